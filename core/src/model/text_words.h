// Words of a text line: split at blanks, JSON strings kept whole; and the way back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/model/span.h"
#include "rankscope/core/result.h"

namespace rankscope::text {

/// One word; `key=value` words have a key. Quotes are already resolved.
struct Word {
  std::string key;  ///< empty if the word has no '='
  std::string value;
  bool quoted = false;
  bool key_quoted = false;  ///< then it is an attribute, whatever the line itself calls so
  bool json = false;        ///< the value was written as @"...": JSON in its own words
};

/// True for a key of the line itself: an attribute of that name is written with its key as a JSON string.
[[nodiscard]] bool is_own_key(SpanKind kind, std::string_view key);

[[nodiscard]] Result<std::vector<Word>> split_line(std::string_view line);
/// The value of a sample, which may also be "inf" or "nan".
[[nodiscard]] std::optional<double> sample_value(std::string_view word);
/// The text itself, or a JSON string where it would not survive as a bare word.
[[nodiscard]] std::string quote(std::string_view text);
/// A JSON string in any case.
[[nodiscard]] std::string quote_always(std::string_view text);

}  // namespace rankscope::text
