// The fact file_time_offset_ns: what leads from run time back to the times of the file that was read first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope::analyzer::kineto {

/// The fact after `by_ns` more lie between run time and the file (|by_ns| < 2^62). Nothing for what is no number, or
/// if one of both is so far away (73 years) that times plus the offset could overflow.
[[nodiscard]] std::optional<std::string> moved_offset(std::string_view fact, std::int64_t by_ns);

}  // namespace rankscope::analyzer::kineto
