// What ranks predicted of themselves in their metadata, beside what they did.
#pragma once

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] Section<PredictedSection> find_predicted(const Run& run, const Section<StepsSection>& steps,
                                                       const ReportOptions& options);

}  // namespace rankscope::analyzer
