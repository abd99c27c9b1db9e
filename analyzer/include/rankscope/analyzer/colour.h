// Whether a text has colours.
#pragma once

#include <cstdint>

namespace rankscope::analyzer {

enum class Colour : std::uint8_t { no, yes };

}  // namespace rankscope::analyzer
