// JSON that was written by somebody else: nothing is guessed, and what is wrong is said with its place.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"
#include "rankscope/trainer/checkpoint/tensor.h"

namespace rankscope::trainer {

using Json = nlohmann::json;

/// Refuses text that is no JSON object, keys that stand twice in one object, and more than 8 levels. `where` begins
/// the error.
[[nodiscard]] Result<Json> parse_strict(std::string_view text, const std::string& where);

/// Without blanks; what is not UTF-8 (a path among options) becomes U+FFFD.
[[nodiscard]] std::string compact(const Json& json);

/// A name from a file for an error: quoted, escaped, and cut where it is long.
[[nodiscard]] std::string in_quotes(std::string_view name);

/// Takes fields of a JSON object; errors (unreadable) begin with `where`.
class Fields {
 public:
  /// `json` must outlive this. It may be anything: a field of what is no object is missing.
  Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  [[nodiscard]] Result<std::int64_t> number(const char* key, std::int64_t least,
                                            std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  [[nodiscard]] Result<std::uint64_t> any_unsigned(const char* key) const;
  [[nodiscard]] Result<std::string> text(const char* key) const;
  [[nodiscard]] Result<const Json*> list(const char* key) const;
  [[nodiscard]] Result<Fields> object(const char* key) const;

  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view what) const;

 private:
  [[nodiscard]] const Json* find(const char* key) const;

  const Json& json_;
  std::string where_;
};

/// A tensor's type and shape, as safetensors headers and manifests write them: takes "dtype" and "shape"; the elements
/// of what it returns can be counted.
[[nodiscard]] Result<TensorInfo> tensor_info_from(const Fields& fields, std::string name);

}  // namespace rankscope::trainer
