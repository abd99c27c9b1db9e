// The values of a column, one behind the other as Arrow wants them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/tables/description.h"
#include "rankscope/core/id.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// Grows at its end. Only the members that its type needs are used; the buffers have Arrow's layout (bits: least
/// significant first).
class ColumnData {
 public:
  explicit ColumnData(const ColumnDescription& description) : description_(&description) {}

  void add(std::int64_t value) {
    if (description_->type == ColumnType::whole) {
      whole_.push_back(value);
    } else {
      RS_CHECK(description_->type == ColumnType::small);
      add_small(value);
    }
    mark(true);
  }
  void add(double value) {
    RS_CHECK(description_->type == ColumnType::number);
    numbers_.push_back(value);
    mark(true);
  }
  void add(bool value) {
    RS_CHECK(description_->type == ColumnType::flag);
    add_flag(value);
    mark(true);
  }
  void add(std::string_view value) {
    if (description_->type == ColumnType::word) {
      small_.push_back(place_of_word(value));
    } else {
      RS_CHECK(description_->type == ColumnType::text);
      add_text(value);
    }
    mark(true);
  }
  void add(StringId value) {
    if (!value.is_set()) return add(std::nullopt);
    RS_CHECK(description_->type == ColumnType::string);
    const bool is_known = value.index() < place_of_string_.size() && place_of_string_[value.index()] >= 0;
    small_.push_back(is_known ? place_of_string_[value.index()] : place_of_new_string(value));
    mark(true);
  }
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
  void add_small(std::int64_t value) {
    const auto small = static_cast<std::int32_t>(value);
    const bool fits = small == value;
    fits_ = fits_ && fits;
    small_.push_back(fits ? small : 0);
  }
  void add_flag(bool value) {
    if (rows_ % 8 == 0) flags_.push_back(0);
    if (value) flags_.back() = static_cast<std::uint8_t>(flags_.back() | (1U << (rows_ % 8)));
  }
  void add_text(std::string_view value);
  /// Words are constants, mostly few: most are known by where they stand in memory.
  [[nodiscard]] std::int32_t place_of_word(std::string_view word) {
    for (std::size_t place = 0; place < words_.size(); ++place)
      if (words_[place].data() == word.data() && words_[place].size() == word.size())
        return static_cast<std::int32_t>(place);
    return place_of_other_word(word);
  }
  [[nodiscard]] std::int32_t place_of_other_word(std::string_view word);
  [[nodiscard]] std::int32_t place_of_new_string(StringId string);
  void mark(bool there) {
    if (!there || !valid_.empty()) mark_in_bits(there);
    ++rows_;
  }
  void mark_in_bits(bool there);

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
