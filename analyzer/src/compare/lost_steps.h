// Steps that a run made and its recording lacks (metrics.md 17.4).
#pragma once

#include <vector>

#include "rankscope/analyzer/compare/compared_losses.h"
#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// Adds the steps that some ranks have and others lack, and those that the trainer was to make and no rank has. Where
/// the recorder was told to stop early, steps are not missing at the ends.
void add_lost_steps(const Run& run, const Report& report, const ReportOptions& options, std::vector<Loss>& losses);

}  // namespace rankscope::analyzer
