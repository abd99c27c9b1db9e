// Time per step of everything that has a name: kernels, copies, operators, annotations, operations of groups.
#pragma once

#include "rankscope/analyzer/compare/compare.h"

namespace rankscope::analyzer {

/// Over the ranks asked for, in the counted steps; kernels and copies of ranks with an accelerator, host time of ranks
/// without one, waits and transfers of matched operations. By key.
[[nodiscard]] std::vector<KeySeries> key_series(const Run& run, const Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
