#include "rankscope/core/format.h"

// After ours, which must not see it: only here the whole of fmt is compiled.
#define FMT_HEADER_ONLY  // NOLINT: a switch of fmt's
#include <fmt/format.h>

namespace rankscope::detail {

std::string format_all(fmt::string_view text, fmt::format_args arguments) { return fmt::vformat(text, arguments); }

}  // namespace rankscope::detail
