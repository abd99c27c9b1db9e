// Where the time of one rank went, and plain facts of it (metrics.md 2, 3.1, 14.1).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

enum class IdleCause : std::uint8_t { host, sync, data, kernel_gap, other };
inline constexpr std::size_t idle_cause_count = 5;
[[nodiscard]] std::string_view name_of(IdleCause cause);

/// Where the time of a window went. compute + exposed_comm + memory + idle = window; overlapped + exposed = comm = wait
/// + transfer + unsplit; the idle causes add up to idle. All exact, in ns.
struct TimeSplit {
  std::int64_t window_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t exposed_comm_ns = 0;
  std::int64_t memory_ns = 0;
  std::int64_t idle_ns = 0;
  std::int64_t comm_ns = 0;
  std::int64_t overlapped_comm_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t unsplit_ns = 0;
  std::int64_t exposed_wait_ns = 0;  ///< parts of exposed_comm; what remains of it is unsplit
  std::int64_t exposed_transfer_ns = 0;
  std::int64_t own_comm_delay_ns = 0;  ///< part of exposed_comm before the start of a collective that this rank delayed
  std::int64_t idle_for_others_ns = 0;  ///< part of idle in a barrier or store wait, that is for other ranks
  std::array<std::int64_t, idle_cause_count> idle_causes_ns{};

  TimeSplit& operator+=(const TimeSplit& other);
  bool operator==(const TimeSplit&) const = default;
  [[nodiscard]] std::int64_t idle_ns_of(IdleCause cause) const {
    return idle_causes_ns[static_cast<std::size_t>(cause)];
  }
  /// Own time (metrics.md 9.1): window minus what was spent waiting for other ranks.
  [[nodiscard]] std::int64_t own_ns() const;
};

struct RankRow {
  RankId rank;
  std::string host;
  std::string device;               ///< "cpu", or the accelerator's name
  TimeSplit total;                  ///< over the counted steps; the whole recording where there are none
  std::vector<TimeSplit> per_step;  ///< parallel to the counted steps
  Ratio overlap_ratio;
  Ratio busy;
  Ratio compute;
  std::optional<std::int64_t> peak_allocated_bytes;
  std::string why_no_memory;
  std::optional<double> cpu_percent;  ///< median of the host sampler
};

/// What is known of a rank without any annotation: where it ran, how it ended, what the host sampler saw.
struct RankFacts {
  RankId rank;
  std::string host;
  std::string program;
  Ending ending = Ending::unknown;
  std::int64_t exit_status = 0;
  std::optional<double> cpu_percent;  ///< median of the host sampler
  std::optional<std::int64_t> peak_rss_bytes;
};

}  // namespace rankscope::analyzer
