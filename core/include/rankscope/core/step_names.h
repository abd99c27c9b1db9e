// Names that programs give to a training step.
#pragma once

#include <optional>
#include <string_view>

namespace rankscope {

/// The digits behind a word for a step, after blanks and _#:- signs ("step 3", "Iteration_3", "ProfilerStep#3"); empty
/// for the word alone; nothing where the name is of something else ("stepper", "step_forward", "step2x").
[[nodiscard]] std::optional<std::string_view> number_of_step_name(std::string_view name);

}  // namespace rankscope
