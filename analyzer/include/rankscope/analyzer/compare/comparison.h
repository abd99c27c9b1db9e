// What the comparison of two runs found out, as plain data (metrics.md 17).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/analyzer/compare/compared_findings.h"
#include "rankscope/analyzer/compare/compared_keys.h"
#include "rankscope/analyzer/compare/compared_losses.h"
#include "rankscope/analyzer/compare/compared_split.h"
#include "rankscope/analyzer/compare/step_comparison.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/section.h"

namespace rankscope::analyzer {

/// What one run states otherwise than the other.
struct Difference {
  std::string what;
  std::string a;  ///< empty: not recorded
  std::string b;
  bool must_agree = false;  ///< world size, batch, dtype: then it is another job
};

/// Whether two runs are of the same job, as far as they say what they are.
struct Likeness {
  std::vector<Difference> differences;  ///< those that must agree first
  std::vector<std::string> unknown;     ///< what one of the runs does not state: "batch", "dtype"
};

/// Of runs with a different number of ranks (metrics.md 17.2); factors of 1 mean no loss.
struct RankScaling {
  double same_problem = 0;   ///< computation of A / computation of B, all ranks together
  double grown_problem = 0;  ///< the same if the problem grew with the number of ranks
  double parallel_a = 0;     ///< share of the ranks' time that computes (8.1)
  double parallel_b = 0;
};

/// How a run is called in sentences, and where it came from.
struct RunName {
  std::string label;  ///< "A", "the baseline"
  std::string path;
};

/// What of one run stands beside the other in the head of a comparison.
struct ComparedRun {
  RunName name;
  std::string source;
  std::int64_t ranks = 0;
  std::int64_t world_size = 0;
  std::int64_t counted_steps = 0;
  std::optional<std::int64_t> median_ns;
  std::string why_no_steps;
  std::vector<std::string> losses;        ///< counters of lost or altered data, with their values
  std::vector<Loss> lost{};               ///< what is missing, and ends of the job that were none; the gravest first
  std::optional<std::int64_t> mean_ns{};  ///< of the counted steps
};

/// Whether B may differ from A in what makes it another job: world size, batch, dtype.
enum class Likes : std::uint8_t { must_agree, may_differ };

/// All that is said of B against A; what grew or got longer is positive.
struct Comparison {
  ComparedRun a;
  ComparedRun b;
  AskedFor asked_for;  ///< of both runs; an open range of steps stays open, since it may end elsewhere in each
  Losses losses = Losses::refused;
  Likes likes = Likes::must_agree;
  StepComparison steps;
  Section<SplitComparison> split = unavailable("not computed");
  KeyComparison keys;
  ComparedFindings findings;
  std::vector<MemoryChange> memory;
  Likeness likeness;
  std::optional<Section<RankScaling>> scaling;  ///< only if the numbers of ranks differ
};

}  // namespace rankscope::analyzer
