// What ranks predicted of themselves in their metadata, beside what they did.
#pragma once

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// Metadata that the reference trainer writes, in bytes.
inline constexpr std::string_view predicted_held_key = "predicted_held_bytes";
inline constexpr std::string_view predicted_sent_key = "predicted_sent_bytes";

[[nodiscard]] Section<PredictedSection> find_predicted(const Run& run, const Section<StepsSection>& steps,
                                                       const ReportOptions& options);

}  // namespace rankscope::analyzer
