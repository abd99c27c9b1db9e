// Whether a text has colours.
#pragma once

#include <cstdint>

namespace rankscope::analyzer {

/// Whether escape sequences of terminals may be in a text.
enum class Colour : std::uint8_t { no, yes };

}  // namespace rankscope::analyzer
