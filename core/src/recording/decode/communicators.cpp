#include "recording/decode/communicators.h"

#include <algorithm>

namespace rankscope::recording {

void Communicators::add(const SegmentFile& segment, RankId rank) {
  for (const Joined& joined : segment.joined) {
    Known& known = known_[joined.communicator];
    known.ranks = std::max(known.ranks, joined.ranks);
    if (!rank.is_set()) continue;
    if (joined.rank >= 0)
      known.by_place.insert_or_assign(joined.rank, rank);
    else if (std::ranges::find(known.without_place, rank) == known.without_place.end())
      known.without_place.push_back(rank);
  }
}

std::vector<RankId> Communicators::members(std::string_view name) const {
  const auto found = known_.find(name);
  if (found == known_.end()) return {};
  const Known& known = found->second;
  std::vector<RankId> members;
  for (const auto& [place, rank] : known.by_place) members.push_back(rank);
  if (members.empty()) {
    members = known.without_place;
    std::ranges::sort(members);
  }
  return members;
}

bool Communicators::is_single(std::string_view name) const {
  const auto found = known_.find(name);
  return found != known_.end() && found->second.ranks == 1;
}

RankId Communicators::rank_of(std::string_view name, std::int64_t place) const {
  const auto found = known_.find(name);
  if (found == known_.end() || place < 0 || place > INT32_MAX) return RankId::none();
  const auto member = found->second.by_place.find(static_cast<std::int32_t>(place));
  return member == found->second.by_place.end() ? RankId::none() : member->second;
}

}  // namespace rankscope::recording
