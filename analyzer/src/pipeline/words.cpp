#include "pipeline/parts.h"

#include "rankscope/core/format.h"
#include "words/units.h"

namespace rankscope::analyzer {

std::string parts_text(const PipelineParts& parts) {
  std::string text =
      format("{} work + {} bubble of the schedule", duration_text(parts.work_ns), duration_text(parts.bubble_ns));
  if (parts.why_no_imbalance.empty()) text += format(" + {} uneven stages", duration_text(parts.imbalance_ns));
  return text + format(" {} {} excess (transfers, slow ranks, hosts)", parts.excess_ns < 0 ? "-" : "+",
                       duration_text(parts.excess_ns < 0 ? -parts.excess_ns : parts.excess_ns));
}

}  // namespace rankscope::analyzer
