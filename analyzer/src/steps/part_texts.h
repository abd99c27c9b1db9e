// The strings of a part of a digest, each once; the rest of the part names their rows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rankscope/core/digest/part_bytes.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// In the place of a row: there is no string.
inline constexpr std::uint32_t no_text = 0xFFFFFFFF;

/// Gives the strings of a run their rows in a part.
class PartTexts {
 public:
  /// Both must outlive it.
  PartTexts(const Run& run, std::vector<std::string>& texts) : run_(run), texts_(texts) {}
  /// no_text for an id that is not set.
  std::uint32_t operator()(StringId id);

 private:
  const Run& run_;
  std::vector<std::string>& texts_;
  std::map<StringId, std::uint32_t> rows_;
};

void write_texts(digest::PartWriter& out, const std::vector<std::string>& texts);
[[nodiscard]] std::vector<std::string> read_texts(digest::PartReader& in);

/// A row of `texts`, or no_text.
void write_text_row(digest::PartWriter& out, std::uint32_t row);
[[nodiscard]] std::uint32_t read_text_row(digest::PartReader& in, const std::vector<std::string>& texts);
/// A row that must be there.
[[nodiscard]] std::uint32_t read_set_text_row(digest::PartReader& in, const std::vector<std::string>& texts);

}  // namespace rankscope::analyzer
