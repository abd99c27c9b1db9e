// Sequences of pointwise kernels worth fusing: each reads and writes memory again that the one before had in registers.
#pragma once

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// Two and more pointwise kernels (by name) in a row on one stream, not farther than 100 µs from each other, that began
/// in the counted windows of the ranks asked for.
[[nodiscard]] Section<FusableSection> find_fusable(const Run& run, const Section<StepsSection>& steps,
                                                   const ReportOptions& options);

}  // namespace rankscope::analyzer
