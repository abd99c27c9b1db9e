#include "stragglers/unrecorded.h"

#include <string_view>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/keys.h"

namespace rankscope::analyzer {

std::string unrecorded_collectives(const Run& run) {
  constexpr std::string_view hidden = "waiting in them counts as work";
  for (const RankId rank : run.ranks()) {
    const std::string_view problem = run.metadata(run.process_of(rank), keys::pytorch_collectives_problem);
    if (!problem.empty()) return format("{}; {}", problem, hidden);
  }
  if (run.quality().of(Counter::comm_groups_unknown) == 0) return {};
  return format("collectives of groups that torch.distributed did not create were not recorded; {}", hidden);
}

}  // namespace rankscope::analyzer
