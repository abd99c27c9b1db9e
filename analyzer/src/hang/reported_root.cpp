#include "hang/reported_root.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "importers/shared/comm_progress.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/printable.h"
#include "words/units.h"

namespace rankscope::analyzer::hang {
namespace {

std::optional<HangKind> reported_kind(std::string_view problem) {
  if (problem == "not_finite") return HangKind::nan;
  if (problem == "replicas_differ") return HangKind::corrupt;
  return std::nullopt;
}

std::string advice_on(const HangRoot& root) {
  if (root.kind == HangKind::corrupt)
    return format("Resume from an earlier checkpoint, and test the memory and the device of {}.",
                  ranks_text(root.ranks));
  return "Look at the learning rate, the loss scale and the input of this step; resume from a checkpoint before it.";
}

std::vector<RankId> reported_ranks(const Run& run, const Process& process) {
  std::vector<RankId> ranks;
  if (const auto listed = members_from(run.metadata(process, "problem_ranks")))
    for (const std::uint32_t rank : *listed) ranks.push_back(RankId{rank});
  if (ranks.empty()) ranks.push_back(process.rank);
  return ranks;
}

}  // namespace

std::optional<HangRoot> reported_root(const Run& run) {
  std::optional<HangRoot> root;
  std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
  for (const Process& process : run.processes()) {
    const auto kind = reported_kind(run.metadata(process, "problem"));
    if (!kind || !process.rank.is_set()) continue;
    const auto step = number_from<std::int64_t>(run.metadata(process, "problem_step"));
    const std::int64_t when = step.value_or(std::numeric_limits<std::int64_t>::max());
    if (!root || when < earliest) {
      earliest = when;
      root = HangRoot{.kind = *kind, .certainty = HangCertainty::fact, .step = step};
      root->evidence = format("the program reported: {}", printable(run.metadata(process, "last_words")));
    }
    if (when > earliest || root->kind != *kind) continue;
    const std::vector<RankId> ranks = reported_ranks(run, process);
    root->ranks.insert(root->ranks.end(), ranks.begin(), ranks.end());
  }
  if (!root) return root;
  std::ranges::sort(root->ranks);
  const auto repeated = std::ranges::unique(root->ranks);
  root->ranks.erase(repeated.begin(), repeated.end());
  root->advice = advice_on(*root);
  return root;
}

}  // namespace rankscope::analyzer::hang
