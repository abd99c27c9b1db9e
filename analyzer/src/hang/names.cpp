#include <array>

#include "rankscope/analyzer/hang/hang.h"

namespace rankscope::analyzer {

std::string_view name_of(HangVerdict verdict) {
  static constexpr std::array<std::string_view, 7> names{"hang",    "crash",    "failed",     "slow",
                                                         "running", "finished", "cannot_tell"};
  return names[static_cast<std::size_t>(verdict)];
}

std::string_view name_of(HangKind kind) {
  static constexpr std::array<std::string_view, 14> names{"never_came", "stuck_outside", "order",   "size",   "dtype",
                                                          "root",       "dead",          "no_dump", "device", "link",
                                                          "straggler",  "cycle",         "nan",     "corrupt"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(HangCertainty certainty) {
  static constexpr std::array<std::string_view, 3> names{"fact", "likely", "guess"};
  return names[static_cast<std::size_t>(certainty)];
}

}  // namespace rankscope::analyzer
