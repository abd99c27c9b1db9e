#include "stragglers/parts.h"

#include "rankscope/core/format.h"

namespace rankscope::analyzer {

std::string when_text(const Straggler& row) {
  if (row.until_step) return format("in steps {} to {}", row.since_step.value_or(0), *row.until_step);
  if (row.since_step) return format("since step {}", *row.since_step);
  return row.persistence == Persistence::transient ? "now and then" : std::string{};
}

std::string_view behaviour_of(StragglerKind kind) {
  switch (kind) {
    case StragglerKind::compute:
      return "computes slower than its peers";
    case StragglerKind::host:
      return "waits on the host longer than its peers";
    case StragglerKind::data:
      return "waits for its training data longer than its peers";
    case StragglerKind::network:
      return "is late in its communication";
    case StragglerKind::memory:
      return "spends more time in memory copies than its peers";
    case StragglerKind::mixed:
      return "is slower than its peers in several ways at once";
  }
  return {};
}

}  // namespace rankscope::analyzer
