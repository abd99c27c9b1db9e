#include "rankscope/core/step_names.h"

#include <algorithm>
#include <array>

namespace rankscope {
namespace {

constexpr std::array<std::string_view, 5> step_words{"profilerstep", "train_step", "training_step", "iteration",
                                                     "step"};

constexpr char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace

std::optional<std::string_view> number_of_step_name(std::string_view name) {
  for (const std::string_view word : step_words) {
    if (name.size() < word.size() || !std::ranges::equal(name.substr(0, word.size()), word, {}, lower)) continue;
    const std::string_view rest = name.substr(word.size());
    const std::string_view number = rest.substr(std::min(rest.find_first_not_of(" _#:-"), rest.size()));
    if (number.find_first_not_of("0123456789") == std::string_view::npos) return number;
  }
  return std::nullopt;
}

}  // namespace rankscope
