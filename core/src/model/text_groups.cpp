#include "text_groups.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "rankscope/core/most_ranks.h"
#include "rankscope/core/numbers.h"
#include "text_words.h"

namespace rankscope::text {

Result<std::int64_t> integer(std::string_view word) {
  if (const auto value = number_from<std::int64_t>(word)) return *value;
  return fail(ErrorKind::unreadable, format("'{}' must be a whole number", word));
}

Result<RankId> rank_from(std::string_view word) {
  if (word == "-") return RankId::none();
  RS_TRY(const std::int64_t value, integer(word));
  if (value < 0 || value >= most_ranks)
    return fail(ErrorKind::unreadable,
                format("'{}' must be a rank (a whole number from 0 to {}) or -", word, most_ranks - 1));
  return RankId{static_cast<std::uint32_t>(value)};
}

Result<std::vector<RankId>> ranks_from(std::string_view list) {
  std::vector<RankId> ranks;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    RS_TRY(const RankId rank, rank_from(list.substr(0, comma)));
    ranks.push_back(rank);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return ranks;
}

void Groups::declare(const std::string& name, std::vector<RankId> members, GroupId id) {
  by_name_[name].push_back({std::move(members), id});
}

Result<GroupId> Groups::find(std::string_view name, RankId rank, std::optional<std::string_view> members) const {
  const auto named = by_name_.find(name);
  if (named == by_name_.end())
    return fail(ErrorKind::unreadable, format("group '{}' needs a line '@group {} RANKS' before it", name, name));
  const std::vector<Declared>& groups = named->second;
  if (members) {
    RS_TRY(const std::vector<RankId> wanted, ranks_from(*members));
    const auto exact = std::ranges::find(groups, wanted, &Declared::members);
    if (exact != groups.end()) return exact->id;
    return fail(ErrorKind::unreadable, format("the line '@group {} {}' must come before this line", name,
                                              members->empty() ? "\"\"" : *members));
  }
  const auto own = std::find_if(groups.rbegin(), groups.rend(), [rank](const Declared& group) {
    return std::ranges::find(group.members, rank) != group.members.end();
  });
  return own == groups.rend() ? groups.back().id : own->id;
}

}  // namespace rankscope::text
