#include "words/letters.h"

#include <algorithm>

namespace rankscope::analyzer {

std::string lower(std::string_view text) {
  std::string small{text};
  std::ranges::transform(small, small.begin(), [](char letter) { return lower(letter); });
  return small;
}

std::string plain_letters(std::string_view name) {
  std::string text = lower(name);
  std::erase_if(text,
                [](char letter) { return !(letter >= 'a' && letter <= 'z') && !(letter >= '0' && letter <= '9'); });
  return text;
}

}  // namespace rankscope::analyzer
