// Reasons of idle time in words.
#pragma once

#include <string_view>

#include "rankscope/analyzer/split/section.h"

namespace rankscope::analyzer {

/// What nothing ran for: "the host", "gaps between kernels", ...
[[nodiscard]] std::string_view words_of(IdleCause cause);
/// "host was late", "gap between kernels", ...
[[nodiscard]] std::string_view words_of(const IdleShare& share);

}  // namespace rankscope::analyzer
