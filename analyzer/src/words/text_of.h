// The text of an id that may be unset.
#pragma once

#include <string>

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

/// Empty where it is unset.
[[nodiscard]] inline std::string text_of(const Run& run, StringId id) {
  return id.is_set() ? std::string{run.text(id)} : std::string{};
}

}  // namespace rankscope::analyzer
