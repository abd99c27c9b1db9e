// Where each step begins and ends, on each rank and for the job (metrics.md 1).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "clocks/clock_trust.h"
#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "steps/local.h"

namespace rankscope::analyzer {

/// Steps of a run, and what had to be left out.
struct StepsResult {
  Section<StepsSection> section = unavailable("not computed");  ///< those asked for
  Section<StepsSection> all = unavailable("not computed");      ///< whatever was asked for
  /// Also those whose events were thinned out, of which there are sums; the other two start behind them. Nothing if no
  /// step was thinned out.
  std::optional<StepsSection> with_thinned{};
  /// Why there are no such steps although some were thinned out; empty otherwise.
  std::string why_no_thinned{};
  Quality quality;
};

/// From the local parts of all ranks, by rank; their times must be run time.
[[nodiscard]] StepsResult find_steps(std::span<const StepsPart> parts, const ClockTrust& clocks,
                                     const ReportOptions& options);
[[nodiscard]] StepsResult find_steps(const Run& run, const ClockTrust& clocks, const ReportOptions& options);

/// Median, p90, mean and jitter of the steps as they are now.
void summarize(StepsSection& section);
/// The windows of one rank, ascending. Empty where the rank has no step marks.
[[nodiscard]] std::span<const StepWindow> windows_of(const StepsSection& steps, RankId rank);
/// The indices of the steps that enter statistics (C6), ascending.
[[nodiscard]] std::vector<std::int64_t> counted_steps(const StepsSection& steps);

}  // namespace rankscope::analyzer
