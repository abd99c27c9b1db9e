#include "importers/shared/loss_messages.h"

#include <algorithm>
#include <array>
#include <string>

#include "words/letters.h"

namespace rankscope::analyzer {

bool reports_lost_events(std::string_view message) {
  static constexpr std::array<std::string_view, 9> words{"dropped",       "discarded",    "lost",
                                                         "overflow",      "incomplete",   "not all ",
                                                         "events may be", "events might", "exceeded max gpu buffer"};
  const std::string small = lower(message);
  return std::ranges::any_of(words, [&](std::string_view word) { return small.find(word) != std::string::npos; });
}

}  // namespace rankscope::analyzer
