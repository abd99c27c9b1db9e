// Times as a person writes and reads them.
#pragma once

#include <string>
#include <string_view>

#include "rankscope/core/result.h"
#include "rankscope/core/time.h"

namespace rankscope {

/// "1.5s", "200ms", "40us", "40µs", "17ns"; a bare number is seconds. Never negative. `usage` errors say what was
/// written and what is wanted.
[[nodiscard]] Result<nanoseconds> duration_from(std::string_view text);

/// In the largest unit of which there is at least one, with three digits behind the point: "1.500 s", "17 ns". The
/// largest unit is the second.
[[nodiscard]] std::string duration_text(nanoseconds duration);

/// The same with just as many digits as tell apart times that are `resolution` apart; in the unit that fits to
/// `largest`, so that the labels of one axis agree.
[[nodiscard]] std::string axis_text(nanoseconds time, nanoseconds resolution, nanoseconds largest);

}  // namespace rankscope
