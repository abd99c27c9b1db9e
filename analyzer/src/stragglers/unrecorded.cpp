#include "stragglers/unrecorded.h"

#include <algorithm>
#include <string_view>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

/// Of the recorder's problems with PyTorch, "; " between them, the first about collectives or their groups. The others
/// (operators, samples of the stack) hide no waiting.
std::string_view problem_of_collectives(std::string_view problems) {
  constexpr std::string_view between = "; ";
  while (!problems.empty()) {
    const std::string_view one = problems.substr(0, problems.find(between));
    if (one.find("collectives") != one.npos || one.find("group") != one.npos) return one;
    problems.remove_prefix(std::min(problems.size(), one.size() + between.size()));
  }
  return {};
}

}  // namespace

std::string unrecorded_collectives(const Run& run) {
  constexpr std::string_view hidden = "waiting in them counts as work";
  for (const RankId rank : run.ranks()) {
    const std::string_view problem = problem_of_collectives(run.metadata(run.process_of(rank), keys::pytorch_problem));
    if (!problem.empty()) return format("{}; {}", problem, hidden);
  }
  if (run.quality().of(Counter::comm_groups_unknown) == 0) return {};
  return format("collectives of groups that torch.distributed did not create were not recorded; {}", hidden);
}

}  // namespace rankscope::analyzer
