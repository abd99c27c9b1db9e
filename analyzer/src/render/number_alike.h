// Rows of a table that would read the same.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {

/// Texts that are there several times become their names with numbers in front: "(1) fill", "(2) fill".
inline bool number_alike(std::vector<std::string>& texts, std::span<const std::string> names) {
  std::map<std::string, std::size_t> alike;
  for (const std::string& text : texts) ++alike[text];
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (alike[texts[i]] > 1) texts[i] = format("({}) {}", ++numbers[texts[i]], names[i]);
  return alike.size() < texts.size();
}

}  // namespace rankscope::analyzer
