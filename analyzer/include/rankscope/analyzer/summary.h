// A Run in a few lines: what a reader of a format has to agree on.
#pragma once

#include <string>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// Counts and first and last times per process, row, kind of event, counter and group. Deterministic.
[[nodiscard]] std::string summarize(const Run& run);

}  // namespace rankscope::analyzer
