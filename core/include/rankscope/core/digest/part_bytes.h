// How numbers and strings stand in the parts of a digest (core/src/digest/FORMAT.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/result.h"

namespace rankscope::digest {

/// Writes one part. Small numbers take one byte.
class PartWriter {
 public:
  void number(std::uint64_t value);
  void signed_number(std::int64_t value);
  void text(std::string_view value);
  /// The count and the values, which must ascend; equal ones are allowed.
  void ascending(std::span<const std::int64_t> values);

  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads what PartWriter wrote, in the same order. Whatever the bytes are, each call returns a value: 0 or an empty one
/// from the first failure on. Ask end() whether all of them can be trusted.
class PartReader {
 public:
  /// The bytes must outlive the reader.
  explicit PartReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number();
  /// A number of at most `most`.
  std::uint64_t number_to(std::uint64_t most);
  std::int64_t signed_number();
  /// A signed number from `least` to `most`.
  std::int64_t signed_between(std::int64_t least, std::int64_t most);
  std::string_view text();
  /// How many entries follow, each of at least `least_bytes`: a damaged count makes nobody reserve memory.
  std::size_t count(std::size_t least_bytes = 1);
  [[nodiscard]] std::vector<std::int64_t> ascending();

  /// For values that contradict each other; the first reason stays.
  void fail(std::string_view why);
  [[nodiscard]] bool failed() const { return !why_.empty(); }
  /// `unreadable` if anything failed or bytes are left over.
  [[nodiscard]] Result<void> end() const;

 private:
  std::string_view rest_;
  std::string why_;
};

}  // namespace rankscope::digest
