// Two runs against each other: did a step get slower, where, and may that be said? (metrics.md 17)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/analyzer/compare/comparison.h"

namespace rankscope::analyzer {

/// What a key took in one step, all ranks together.
struct StepTime {
  std::uint32_t step = 0;  ///< place among the counted steps
  std::int64_t ns = 0;
};

/// The times of one key in one run.
struct KeySeries {
  CompareKey key;
  std::vector<StepTime> per_step;  ///< of the steps that have it, ascending: most keys are in few of many steps
  std::int64_t count = 0;
  std::int64_t median_ns = 0;  ///< of a single one
};

/// Ranks that do equal work, as far as is known.
struct PeerRanks {
  std::string name;
  std::string caveat;    ///< set where it is not known whether they do
  bool is_only = false;  ///< no other ranks have steps
  std::vector<RankId> ranks;
};

/// What a comparison needs of one run: it is small, so that only one run is in memory at a time.
struct RunDigest {
  RunName name;
  Report report;
  std::vector<RankId> ranks;                 ///< those asked for
  std::optional<StepRange> steps_asked_for;  ///< as asked
  std::vector<std::int64_t> step_walls_ns;
  std::vector<KeySeries> keys;   ///< by key
  std::vector<PeerRanks> peers;  ///< of the ranks that have steps
  std::vector<Loss> lost{};      ///< the gravest first
};
[[nodiscard]] RunDigest digest(const Run& run, const ReportOptions& options, RunName name);

/// Runs of which something is missing in the compared steps and ranks are not judged unless their losses are accepted,
/// and runs of different jobs only if they may differ.
[[nodiscard]] Comparison compare(const RunDigest& a, const RunDigest& b, Losses losses = Losses::refused,
                                 Likes likes = Likes::must_agree);

/// What `gate` ends with; `cannot_tell` is neither, and has an exit status of its own.
enum class GateVerdict : std::uint8_t { pass, fail, cannot_tell };
[[nodiscard]] std::string_view name_of(GateVerdict verdict);

/// Whether a run is slower than its baseline by more than a limit, beyond what chance explains.
struct Gate {
  GateVerdict verdict = GateVerdict::cannot_tell;
  double limit = 0;                             ///< 0.03 = 3 % slower
  std::string why;                              ///< why it cannot be told; empty: it can
  StepMeasure judged_by = StepMeasure::median;  ///< what the verdict is about
};
/// metrics.md 17.3; A is the baseline.
[[nodiscard]] Gate judge(const Comparison& comparison, double limit, Likes likes);

}  // namespace rankscope::analyzer
