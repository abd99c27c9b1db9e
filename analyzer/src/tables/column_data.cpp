#include "rankscope/analyzer/tables/column_data.h"

#include <algorithm>

#include "rankscope/core/printable.h"

namespace rankscope::analyzer {

std::string_view name_of(ColumnType type) {
  switch (type) {
    case ColumnType::whole:
      return "int64";
    case ColumnType::small:
      return "int32";
    case ColumnType::flag:
      return "bool";
    case ColumnType::number:
      return "double";
    case ColumnType::word:
    case ColumnType::text:
    case ColumnType::string:
      return "string";
  }
  return "";
}

std::string_view ColumnDescription::arrow_name() const {
  std::string_view shown = name;
  if (type == ColumnType::string && shown.ends_with("_id")) shown.remove_suffix(3);
  return shown;
}

void ColumnData::mark_in_bits(bool there) {
  if (!there && valid_.empty()) valid_.assign(rows_ / 8 + 1, 0xFF);
  if (valid_.size() <= rows_ / 8) valid_.push_back(0);
  const auto bit = static_cast<std::uint8_t>(1U << (rows_ % 8));
  auto& byte = valid_[rows_ / 8];
  byte = static_cast<std::uint8_t>(there ? byte | bit : byte & ~bit);
  missing_ += there ? 0 : 1;
}

void ColumnData::add_text(std::string_view value) {
  characters_ += valid_utf8(value);
  offsets_.push_back(static_cast<std::int64_t>(characters_.size()));
}

std::int32_t ColumnData::place_of_other_word(std::string_view word) {
  const auto found = std::ranges::find(words_, word);
  const auto place = static_cast<std::int32_t>(found - words_.begin());
  if (found == words_.end()) words_.push_back(word);
  return place;
}

std::int32_t ColumnData::place_of_new_string(StringId string) {
  if (place_of_string_.size() <= string.index()) place_of_string_.resize(string.index() + 1, -1);
  const auto place = static_cast<std::int32_t>(strings_.size());
  place_of_string_[string.index()] = place;
  strings_.push_back(string);
  return place;
}

void ColumnData::add(std::nullopt_t) {
  switch (description_->type) {
    case ColumnType::whole:
      whole_.push_back(0);
      break;
    case ColumnType::small:
    case ColumnType::word:
    case ColumnType::string:
      small_.push_back(0);
      break;
    case ColumnType::number:
      numbers_.push_back(0);
      break;
    case ColumnType::flag:
      add_flag(false);
      break;
    case ColumnType::text:
      offsets_.push_back(static_cast<std::int64_t>(characters_.size()));
      break;
  }
  mark(false);
}

void ColumnData::reserve(std::size_t rows) {
  switch (description_->type) {
    case ColumnType::whole:
      return whole_.reserve(rows);
    case ColumnType::small:
    case ColumnType::word:
    case ColumnType::string:
      return small_.reserve(rows);
    case ColumnType::number:
      return numbers_.reserve(rows);
    case ColumnType::flag:
      return flags_.reserve(rows / 8 + 1);
    case ColumnType::text:
      return offsets_.reserve(rows + 1);
  }
}

void ColumnData::clear() {
  rows_ = missing_ = 0;
  valid_.clear();
  whole_.clear();
  small_.clear();
  numbers_.clear();
  flags_.clear();
  characters_.clear();
  offsets_.assign(1, 0);
}

void ColumnData::truncate(std::size_t rows) {
  if (rows >= rows_) return;
  const std::size_t bytes = (rows + 7) / 8;
  switch (description_->type) {
    case ColumnType::whole:
      whole_.resize(rows);
      break;
    case ColumnType::small:
    case ColumnType::word:
    case ColumnType::string:
      small_.resize(rows);
      break;
    case ColumnType::number:
      numbers_.resize(rows);
      break;
    case ColumnType::flag:
      flags_.resize(bytes);
      break;
    case ColumnType::text:
      offsets_.resize(rows + 1);
      characters_.resize(static_cast<std::size_t>(offsets_.back()));
      break;
  }
  rows_ = rows;
  if (valid_.empty()) return;
  valid_.resize(bytes + 1);
  missing_ = 0;
  for (std::size_t row = 0; row < rows; ++row) missing_ += has(row) ? 0U : 1U;
}

void ColumnData::replace_places(const std::vector<std::int32_t>& places) {
  RS_CHECK(description_->type == ColumnType::string);
  for (std::size_t row = 0; row < rows_; ++row)
    if (has(row)) small_[row] = places[static_cast<std::size_t>(small_[row])];
}

std::string_view ColumnData::text(std::size_t row) const {
  const auto from = static_cast<std::size_t>(offsets_[row]);
  return std::string_view{characters_}.substr(from, static_cast<std::size_t>(offsets_[row + 1]) - from);
}

}  // namespace rankscope::analyzer
