#include "stragglers/words.h"

#include "rankscope/core/format.h"

namespace rankscope::analyzer {

std::string when_text(const Straggler& row) {
  if (row.until_step) return format("in steps {} to {}", row.since_step.value_or(0), *row.until_step);
  if (row.since_step) return format("since step {}", *row.since_step);
  return row.persistence == Persistence::transient ? "now and then" : std::string{};
}

}  // namespace rankscope::analyzer
