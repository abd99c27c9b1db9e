#include "rankscope/core/model/clock_words.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "rankscope/core/time_text.h"

namespace rankscope {
namespace {

std::string method_words(const ClockInfo& clock) {
  if (clock.method == "unit_ends") return "clocks aligned by the ends of shared operations";
  if (clock.method == "same_host") return "one clock (same host)";
  if (clock.method == "assumed_shared") return "one shared clock (assumed)";
  if (clock.method == "wall_clock") return "wall clocks";
  std::string method = clock.method;
  std::ranges::replace(method, '_', ' ');
  return "clocks aligned by " + method;
}

}  // namespace

std::string clock_words(const ClockInfo& clock) {
  if (clock.method == "none") return "no common clock";
  const std::string error = clock.error > nanoseconds{0} ? format(", ±{}", duration_text(clock.error)) : "";
  return method_words(clock) + error;
}

}  // namespace rankscope
