#include "steps/part_texts.h"

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

std::uint32_t PartTexts::operator()(StringId id) {
  if (!id.is_set()) return no_text;
  const auto [found, added] = rows_.try_emplace(id, static_cast<std::uint32_t>(texts_.size()));
  if (added) texts_.emplace_back(run_.text(id));
  return found->second;
}

void write_texts(digest::PartWriter& out, const std::vector<std::string>& texts) {
  out.number(texts.size());
  for (const std::string& text : texts) out.text(text);
}

std::vector<std::string> read_texts(digest::PartReader& in) {
  std::vector<std::string> texts;
  for (std::size_t left = in.count(); left > 0 && !in.failed(); --left) texts.emplace_back(in.text());
  return texts;
}

void write_text_row(digest::PartWriter& out, std::uint32_t row) {
  out.number(row == no_text ? 0 : std::uint64_t{row} + 1);
}

std::uint32_t read_text_row(digest::PartReader& in, const std::vector<std::string>& texts) {
  const std::uint64_t row = in.number_to(texts.size());
  return row == 0 ? no_text : static_cast<std::uint32_t>(row - 1);
}

std::uint32_t read_set_text_row(digest::PartReader& in, const std::vector<std::string>& texts) {
  const std::uint32_t row = read_text_row(in, texts);
  if (row == no_text) in.fail("a string is missing");
  return row;
}

}  // namespace rankscope::analyzer
