// JSON that others wrote, made such that every reader takes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankscope::analyzer {

/// True for one value as RFC 8259 has it: also its texts are valid UTF-8, and its numbers fit in a double.
[[nodiscard]] bool is_json(std::string_view text);

/// JSON of the same meaning for what is none; nothing for what is. Words that JSON does not have (NaN, 007, tru) become
/// texts, texts get their escapes; what is no JSON even then becomes one text. Profilers and Python write such values,
/// inside of lists, too.
[[nodiscard]] std::optional<std::string> repaired_json(std::string_view json);

}  // namespace rankscope::analyzer
