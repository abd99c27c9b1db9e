#include "rankscope/core/model/clock_words.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "rankscope/core/time_text.h"

namespace rankscope {

std::string clock_method_words(const ClockInfo& clock) {
  if (clock.method == "none") return "not synchronized";
  if (clock.method == "unit_ends") return "aligned by the ends of shared operations";
  if (clock.method == "wall_clock") return "wall clocks";
  if (clock.method == "assumed_shared") return "assumed to be shared";
  std::string method = clock.method;
  std::ranges::replace(method, '_', ' ');
  return method;
}

std::string clock_words(const ClockInfo& clock) {
  const bool known = clock.method != "none" && clock.error > nanoseconds{0};
  return format("clocks: {}{}", clock_method_words(clock), known ? format(", ±{}", duration_text(clock.error)) : "");
}

}  // namespace rankscope
