// Fast text output: a buffer of our own in front of a file, numbers without locale or format strings.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "exports/shared/json_repair.h"
#include "rankscope/analyzer/output_file.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// Appends text to an OutputFile. The first failure is kept and what follows is dropped, so that callers check once.
class TextWriter {
 public:
  explicit TextWriter(OutputFile& file) : file_(file), buffer_(new char[capacity]) {}

  TextWriter& text(std::string_view bytes) {
    if (bytes.size() > capacity - used_) {
      flush();
      if (bytes.size() > capacity) {
        pass_on(bytes);
        return *this;
      }
    }
    std::memcpy(buffer_.get() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
    return *this;
  }

  /// JSON in its own words, but valid.
  TextWriter& json(std::string_view value) {
    const auto repaired = repaired_json(value);
    return text(repaired ? std::string_view{*repaired} : value);
  }

  TextWriter& integer(std::int64_t value) {
    char* const from = room(24);
    used_ += static_cast<std::size_t>(std::to_chars(from, from + 24, value).ptr - from);
    return *this;
  }

  /// Microseconds with exactly three decimals, from integers: 1234567 ns is 1234.567. `ns` must not be negative.
  TextWriter& micros(std::int64_t ns) {
    char* to = room(28);
    char* const from = to;
    to = std::to_chars(to, to + 20, ns / 1000).ptr;
    const auto rest = static_cast<int>(ns % 1000);
    *to++ = '.';
    *to++ = static_cast<char>('0' + rest / 100);
    *to++ = static_cast<char>('0' + rest / 10 % 10);
    *to++ = static_cast<char>('0' + rest % 10);
    used_ += static_cast<std::size_t>(to - from);
    return *this;
  }

  /// The shortest text that reads back as the same number; `value` must be finite.
  TextWriter& number(double value) {
    char* const from = room(40);
    used_ += static_cast<std::size_t>(std::to_chars(from, from + 40, value).ptr - from);
    return *this;
  }

  /// Writes what is left; the first error of all.
  [[nodiscard]] Result<void> finish() {
    flush();
    return std::move(outcome_);
  }
  [[nodiscard]] bool failed() const { return !outcome_.has_value(); }

 private:
  static constexpr std::size_t capacity = std::size_t{1} << 20;

  char* room(std::size_t size) {
    if (size > capacity - used_) flush();
    return buffer_.get() + used_;
  }
  void flush() {
    pass_on({buffer_.get(), used_});
    used_ = 0;
  }
  void pass_on(std::string_view bytes) {
    if (outcome_) outcome_ = file_.write(bytes);
  }

  OutputFile& file_;
  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;
  Result<void> outcome_;
};

}  // namespace rankscope::analyzer
