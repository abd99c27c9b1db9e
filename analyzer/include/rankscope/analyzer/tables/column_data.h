// The values of a column, one behind the other as Arrow wants them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/tables/description.h"
#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// Grows at its end. Only the members that its type needs are used; the buffers have Arrow's layout (bits: least
/// significant first).
class ColumnData {
 public:
  explicit ColumnData(const ColumnDescription& description) : description_(&description) {}

  void add(std::int64_t value);
  void add(double value);
  void add(bool value);
  void add(std::string_view value);
  void add(StringId value);
  void add(std::nullopt_t);
  template <class Value>
  void add(const std::optional<Value>& value) {
    value ? add(*value) : add(std::nullopt);
  }
  void reserve(std::size_t rows);
  void clear();
  /// Leaves the first rows; nothing happens if there are no more.
  void truncate(std::size_t rows);
  /// Each place of small() becomes places[place]; of strings of the run, whose dictionary then is another one.
  void replace_places(const std::vector<std::int32_t>& places);

  [[nodiscard]] const ColumnDescription& description() const { return *description_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t missing() const { return missing_; }
  /// False if a value of a small column has more than 32 bits; 0 stands in its place.
  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] bool has(std::size_t row) const { return valid_.empty() || (valid_[row / 8] >> (row % 8) & 1) != 0; }
  /// One bit per row; empty: no value is missing.
  [[nodiscard]] const std::vector<std::uint8_t>& valid() const { return valid_; }
  [[nodiscard]] const std::vector<std::int64_t>& whole() const { return whole_; }
  /// Of small columns the values, of words and strings of the run the places in their dictionary.
  [[nodiscard]] const std::vector<std::int32_t>& small() const { return small_; }
  [[nodiscard]] const std::vector<double>& numbers() const { return numbers_; }
  [[nodiscard]] const std::vector<std::uint8_t>& flags() const { return flags_; }
  /// Texts one behind the other, and where each begins; the last entry is the end.
  [[nodiscard]] const std::string& characters() const { return characters_; }
  [[nodiscard]] const std::vector<std::int64_t>& offsets() const { return offsets_; }
  [[nodiscard]] std::string_view text(std::size_t row) const;
  /// What the places of small() mean, by first appearance.
  [[nodiscard]] const std::vector<std::string_view>& words() const { return words_; }
  [[nodiscard]] const std::vector<StringId>& strings() const { return strings_; }

 private:
  void add_small(std::int64_t value);
  void mark(bool there);

  const ColumnDescription* description_;
  std::size_t rows_ = 0;
  std::size_t missing_ = 0;
  bool fits_ = true;
  std::vector<std::uint8_t> valid_;
  std::vector<std::int64_t> whole_;
  std::vector<std::int32_t> small_;
  std::vector<double> numbers_;
  std::vector<std::uint8_t> flags_;
  std::string characters_;
  std::vector<std::int64_t> offsets_{0};
  std::vector<std::string_view> words_;
  std::vector<StringId> strings_;
  std::vector<std::int32_t> place_of_string_;  // by StringId; -1: not in strings_
};

/// Some columns of a table, all of one length.
struct TableData {
  const TableDescription* description = nullptr;
  std::vector<ColumnData> columns;
  [[nodiscard]] std::size_t rows() const { return columns.empty() ? 0 : columns.front().rows(); }
};

}  // namespace rankscope::analyzer
