// What the training thread waited for when it waited for data (metrics.md 2.8).
#pragma once

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// Of the ranks asked for, in their counted windows.
[[nodiscard]] Section<DataLoadingSection> find_data_loading(const Run& run, const Section<StepsSection>& steps,
                                                            const ReportOptions& options);

}  // namespace rankscope::analyzer
