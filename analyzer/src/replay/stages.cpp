#include "replay/stages.h"

#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"

namespace rankscope::analyzer::replay {

std::vector<std::int64_t> stages_of(const Graph& graph) {
  std::vector<std::int64_t> stages;
  for (const RankId rank : graph.ranks) {
    const Process& process = graph.run->process_of(rank);
    auto stage = number_from<std::int64_t>(graph.run->metadata(process, "stage"), {.least = 0});
    if (!stage) stage = number_from<std::int64_t>(graph.run->metadata(process, "pp_rank"), {.least = 0});
    if (!stage) return {};
    stages.push_back(*stage);
  }
  return stages;
}

}  // namespace rankscope::analyzer::replay
