// What a run lacks in the steps and ranks that are compared (metrics.md 17.4).
#pragma once

#include <string>
#include <vector>

#include "rankscope/analyzer/compare/compare.h"

namespace rankscope::analyzer {

/// Lost data, ranks and steps, and an end of the job that was none; `run` in the times of the report's steps. The
/// gravest first.
[[nodiscard]] std::vector<Loss> losses_of(const Run& run, const Report& report, const ReportOptions& options);

/// Steps that `run` lacks, as the other run shows.
[[nodiscard]] std::vector<Loss> lost_against(const RunDigest& run, const RunDigest& other);

/// "the run is not intact: rank 1 was not recorded"; empty if nothing is missing in what is compared.
[[nodiscard]] std::string not_intact(const ComparedRun& run);
/// The same of both runs.
[[nodiscard]] std::string not_intact(const ComparedRun& a, const ComparedRun& b);

}  // namespace rankscope::analyzer
