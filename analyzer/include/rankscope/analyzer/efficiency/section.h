// What share of the ranks' time computes, and what takes the rest (metrics.md 8).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// Of some ranks: U is what a rank computed, A its window without idle time, E the longest window of any rank of the
/// job. parallel = load_balance x communication x orchestration. Ties: the lowest rank.
struct EfficiencyFactors {
  std::int64_t ranks = 0;
  std::int64_t compute_ns = 0;       ///< sum of U
  std::int64_t most_compute_ns = 0;  ///< largest U; 0: there are no factors
  std::int64_t most_active_ns = 0;   ///< largest A
  std::int64_t longest_ns = 0;       ///< E
  RankId most_computing;
  RankId most_active;
  RankId longest;

  [[nodiscard]] bool known() const { return most_compute_ns > 0; }
  [[nodiscard]] double mean_compute_ns() const { return static_cast<double>(compute_ns) / static_cast<double>(ranks); }
  [[nodiscard]] double parallel() const { return mean_compute_ns() / static_cast<double>(longest_ns); }
  [[nodiscard]] double load_balance() const { return mean_compute_ns() / static_cast<double>(most_compute_ns); }
  [[nodiscard]] double communication() const {
    return static_cast<double>(most_compute_ns) / static_cast<double>(most_active_ns);
  }
  [[nodiscard]] double orchestration() const {
    return static_cast<double>(most_active_ns) / static_cast<double>(longest_ns);
  }
};

/// The factors of one counted step.
struct StepEfficiency {
  std::int64_t step = 0;
  EfficiencyFactors factors;
};

/// Ranks that should do equal work, or of one host.
struct EfficiencyGroup {
  std::string name;
  std::vector<RankId> ranks;
  EfficiencyFactors factors;
};

/// Ranks put together in one way. load_balance = between x inside, where there are two groups or more.
struct Grouping {
  std::vector<EfficiencyGroup> groups;
  std::string caveat;  ///< set where their ranks may not do equal work
  Ratio between;
  Ratio inside;
};

/// Where the time of all ranks went (8.6), down to the tail behind a rank's own window.
enum class LedgerPart : std::uint8_t {
  compute,
  exposed_transfer,
  exposed_wait,
  exposed_unsplit,
  memory,
  idle_host,
  idle_sync,
  idle_data,
  idle_kernel_gap,
  idle_other,
  tail,
};
inline constexpr std::size_t ledger_part_count = 11;
[[nodiscard]] std::string_view name_of(LedgerPart part);
/// In ns; they add up to ranks x E.
using TimeLedger = std::array<std::int64_t, ledger_part_count>;

/// A step of the job replayed as it was, and again with transfers that take no time (8.5, 12.5).
struct NetworkReplay {
  std::int64_t step_ns = 0;
  std::int64_t step_without_transfers_ns = 0;
};

/// How much of the time of all ranks computed, as factors whose product it is (metrics.md 8).
struct EfficiencySection {
  EfficiencyFactors run;
  std::vector<StepEfficiency> steps;  ///< counted ones; none where the whole recording was split
  Grouping classes;
  Grouping hosts;
  TimeLedger ledger{};
  std::int64_t whole_ns = 0;     ///< ranks x E
  std::vector<RankId> left_out;  ///< without these steps
  Ratio transfer;                ///< 8.5
  Ratio serialization;
};

/// Fills transfer and serialization, or why they are not known.
void set_network(EfficiencySection& section, const Section<NetworkReplay>& replay);

}  // namespace rankscope::analyzer
