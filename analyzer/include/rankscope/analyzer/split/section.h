// Where the time of one rank went, and plain facts of it (metrics.md 2, 3.1, 14.1).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/split/device_row.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// Why nothing ran on a device, by what the host did before the next work was launched (metrics.md 2.7).
enum class IdleCause : std::uint8_t { host, sync, data, kernel_gap, other };
inline constexpr std::size_t idle_cause_count = 5;
[[nodiscard]] std::string_view name_of(IdleCause cause);

/// What is known beyond the cause.
enum class IdleDetail : std::uint8_t {
  none,
  launching,          ///< host: the work was launched, and had not begun yet
  nothing_followed,   ///< nothing was put on the device any more
  waits_for_event,    ///< other: the stream waited for an event of another stream
  profiler_overhead,  ///< other: the profiler itself held the process up
  inside_graph,       ///< other: between two pieces of work of one graph launch
  no_launch_record,   ///< other: nobody recorded when the next work was launched
};
[[nodiscard]] std::string_view name_of(IdleDetail detail);

/// Why nothing ran: the cause, and where the host was. Unset ids: in no range, in no call.
struct IdleReason {
  IdleCause cause = IdleCause::other;
  IdleDetail detail = IdleDetail::none;
  StringId range{};  ///< operator or annotation
  StringId call{};   ///< call into CUDA
  auto operator<=>(const IdleReason&) const = default;
};

/// Idle time of one reason in one step.
struct IdleInStep {
  std::int64_t step = 0;
  std::int64_t ns = 0;
};

/// Idle time of one reason, with its names as text ("" = none).
struct IdleShare {
  IdleCause cause = IdleCause::other;
  IdleDetail detail = IdleDetail::none;
  std::string range;
  std::string call;
  std::int64_t ns = 0;
  std::int64_t most_ns = 0;  ///< of `ns`: in the one step that has most of it; 0 without steps
  std::optional<std::int64_t> most_in_step{};
  std::int64_t outside_ns = 0;  ///< of `ns`: before the first device work or after the last; 0 with steps
  /// Ascending: of each rank the step with most, and those with a sixteenth of its `ns`; the others are left out.
  std::vector<IdleInStep> long_steps{};
};

/// One row per reason, the longest first.
[[nodiscard]] std::vector<IdleShare> by_reason(std::vector<IdleShare> shares);

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
  std::int64_t host_late_in_comm_ns = 0;  ///< part of exposed_comm in which the host had not launched what follows
  std::int64_t idle_for_others_ns = 0;    ///< part of idle in a barrier or store wait, that is for other ranks
  std::array<std::int64_t, idle_cause_count> idle_causes_ns{};

  TimeSplit& operator+=(const TimeSplit& other);
  bool operator==(const TimeSplit&) const = default;
  [[nodiscard]] std::int64_t idle_ns_of(IdleCause cause) const {
    return idle_causes_ns[static_cast<std::size_t>(cause)];
  }
  /// Own time (metrics.md 9.1): window minus what was spent waiting for other ranks.
  [[nodiscard]] std::int64_t own_ns() const;
};

/// Where the time of one rank went, with the quantities that were sampled beside it.
struct RankRow {
  RankId rank;
  std::string host;
  std::string device;                  ///< "cpu", or the accelerator's name
  TimeSplit total;                     ///< over the counted steps; the whole recording where there are none
  std::vector<TimeSplit> per_step;     ///< parallel to the counted steps
  std::vector<IdleShare> idle_shares;  ///< of accelerators, the longest first; they add up to total.idle_ns
  std::int64_t before_work_ns = 0;     ///< without steps: part of total.idle_ns before the first device work,
  std::int64_t after_work_ns = 0;      ///< and after the last
  Ratio overlap_ratio;
  Ratio busy;
  Ratio compute;
  Ratio sm_active{.value = std::nullopt, .why = "not sampled"};  ///< mean of the GPUs' own counters
  Ratio nvml_busy{.value = std::nullopt, .why = "not sampled"};  ///< with any kernel, one that waits in NCCL too
  std::vector<DeviceRow> devices{};                              ///< the GPUs that it used, by their numbers
  std::optional<std::int64_t>
      peak_allocated_bytes;                         ///< of its accelerator, of several the one with most; else the host
  std::optional<std::int64_t> peak_reserved_bytes;  ///< of the same one
  std::string why_no_memory;
  std::string why_no_reserved;
  std::optional<double> cpu_percent;  ///< median of the host sampler
  /// Set where too little of what ranks say to each other was recorded (metrics.md 2.9): what counts as compute or idle
  /// may be waiting for other ranks.
  std::string why_no_comm{};

  /// False: its communication is unknown and not 0.
  [[nodiscard]] bool shows_communication() const { return why_no_comm.empty() || total.comm_ns > 0; }
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
