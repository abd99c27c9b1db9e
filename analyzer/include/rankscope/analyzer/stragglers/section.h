// Slow ranks (metrics.md 9).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/analyzer/python_stacks/section.h"
#include "rankscope/analyzer/rules/finding.h"
#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// What a slow rank spends its additional time in; `mixed`: no kind has most of it.
enum class StragglerKind : std::uint8_t { compute, host, data, network, memory, mixed };
/// Whether a rank is slow throughout, at least from some step on, or stalls in single steps (metrics.md 9.4).
enum class Persistence : std::uint8_t { persistent, transient };
[[nodiscard]] std::string_view name_of(StragglerKind kind);
[[nodiscard]] std::string_view name_of(Persistence persistence);

/// Why the GPU of a slow rank runs slower than those of the others.
enum class SlowDevice : std::uint8_t {
  too_hot,
  power_limit,
  hardware,    ///< it brakes itself, or its server's power brake does
  clocks_set,  ///< somebody has set its clocks
  low_clock,   ///< NVML names no reason
};

/// Operations in which a rank was the last to arrive.
struct EvidenceUnits {
  std::int64_t last = 0;
  std::int64_t of = 0;  ///< all operations of the counted steps
};

/// Time in which Python's garbage collector held a rank up (metrics.md 9.9).
struct CollectorPauses {
  std::int64_t ns_per_step = 0;
  std::int64_t peers_ns_per_step = 0;  ///< median of the peers
};

/// An operator that a rank calls more often than its peers, with what is nested in it.
struct MoreWork {
  std::string op;
  double calls_per_step = 0;
  double peers_calls_per_step = 0;  ///< median of the peers
  std::int64_t ns_per_step = 0;     ///< of its host
  std::int64_t peers_ns_per_step = 0;
};

/// Several slow ranks of one class, all as their peers.
struct GainTogether {
  std::vector<RankId> ranks;  ///< ascending
  std::int64_t ns_per_step = 0;
};

/// A slow rank: how slow it is against its peers, since when, why, and what it costs the job.
struct Straggler {
  RankId rank;
  StragglerKind kind = StragglerKind::compute;
  Persistence persistence = Persistence::persistent;
  Certainty certainty = Certainty::fact;
  FindingSeverity severity = FindingSeverity::minor;
  double slowdown = 1;
  std::int64_t lag_ns_per_step = 0;  ///< transient: of the steps with a stall
  bool on_average = false;           ///< slowdown and lag are means over steps, of which it may be slow in some only
  /// What an average step would be shorter: replayed with this rank as its peers.
  std::int64_t gain_ns_per_step = 0;
  std::string why_no_gain{};                 ///< set where that cannot be replayed; the gains are then 0
  std::optional<std::int64_t> since_step{};  ///< slow from this step on; not set: from the first
  std::optional<std::int64_t> until_step{};  ///< slow up to this step; not set: to the last
  std::int64_t gain_ns_while_slow = 0;       ///< gain of an average one of these steps; 0 where it is slow in all
  std::int64_t step_ns_while_slow = 0;       ///< mean length of these steps
  std::int64_t slow_steps = 0;               ///< how many these are; 0 where it is slow in all
  std::optional<GainTogether> together{};    ///< set where other ranks of its class are slow, too
  std::string evidence;
  std::optional<EvidenceUnits> evidence_units{};  ///< set where these prove it and not its own times (9.4)
  std::optional<SlowDevice> device{};             ///< set where its GPU's counters explain it
  std::optional<SlowCode> code{};           ///< where its Python code was sampled and clearly differs from its peers'
  std::optional<CollectorPauses> pauses{};  ///< where they explain it
  std::optional<MoreWork> more_work{};      ///< where it computes longer because it computes more
};

/// Who came last, where that is a fact (metrics.md 9.4).
struct LastArrivals {
  std::int64_t counted = 0;  ///< steps (their operation of longest wait), or operations
  bool by_operation = false;
  std::vector<std::pair<RankId, std::int64_t>> ranks;  ///< how often; the most first
  Certainty certainty = Certainty::fact;               ///< of_two, of_three: somebody always comes last
};

/// Which ranks are slow, and how small a slowdown would have been found.
struct StragglersSection {
  std::vector<Straggler> rows;  ///< severity minor and above, worst first
  std::string compared;         ///< "Each rank is compared with 3 peers; ..."
  double chance_slowdown = 1;   ///< up to which the want of CPUs explains that a rank is slower (9.10)
  std::string cannot_tell;      ///< why, where noise or too few steps hide slowdowns: "only 2 counted steps (...)"
  LastArrivals last_arrivals{};
  std::optional<double> smallest_detectable;  ///< slowdown in two thirds of the steps that would be found (9.2)
};

}  // namespace rankscope::analyzer
