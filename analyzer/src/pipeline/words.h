// What the length of a pipeline's step is made of, in words.
#pragma once

#include <string>

#include "rankscope/analyzer/pipeline/section.h"

namespace rankscope::analyzer {

/// "240 ms work + 90.0 ms bubble of the schedule + 12.2 ms uneven stages + 4.33 ms excess (...)"; uneven stages only
/// where they are known apart.
[[nodiscard]] std::string parts_text(const PipelineParts& parts);

}  // namespace rankscope::analyzer
