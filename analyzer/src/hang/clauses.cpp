#include "hang/clauses.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "rankscope/core/printable.h"
#include "words/units.h"

namespace rankscope::analyzer::hang {

std::vector<RankId> ids_from(std::span<const std::uint32_t> ranks) {
  std::vector<RankId> ids;
  ids.reserve(ranks.size());
  for (const std::uint32_t rank : ranks) ids.push_back(RankId{rank});
  return ids;
}

std::string ranks_words(std::span<const std::uint32_t> ranks) { return ranks_text(ids_from(ranks)); }

HangOperation operation_of(const JobProgress& job, const CommCall& call, const WaitedOperation* waited) {
  const CommGroup& group = job.groups[call.group];
  std::vector<std::uint32_t> members = group.members;
  if (call.way != CallWay::collective && waited != nullptr) members = waited->members;
  return {
      .group = {printable(job.texts.text(group.name)), printable(job.texts.text(group.description)), ids_from(members)},
      .op = printable(job.texts.text(call.op)),
      .sequence = call.sequence,
      .shape = printable(job.texts.text(call.shape)),
      .dtype = printable(job.texts.text(call.dtype))};
}

std::string group_words(const HangGroup& group) {
  if (group.description == "default_pg") return "the default group";
  if (group.description.empty()) return format("group {}", group.name);
  return format("group {} ({})", group.name, group.description);
}

std::string operation_words(const HangOperation& operation) {
  if (operation.sequence < 0) return format("a {} in {}", operation.op, group_words(operation.group));
  return format("{} {} of {}", operation.op, operation.sequence, group_words(operation.group));
}

std::string_view verb(std::size_t count, std::string_view one, std::string_view several) {
  return count == 1 ? one : several;
}

}  // namespace rankscope::analyzer::hang
