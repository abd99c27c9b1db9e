#include "importers/shared/comm_progress.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "rankscope/analyzer/open.h"
#include "rankscope/core/numbers.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t most_members = std::size_t{1} << 20;          // of a group
constexpr std::size_t most_members_of_all = std::size_t{64} << 20;  // groups together

std::tuple<std::uint32_t, CallWay, std::int32_t> key_of_pair(const PairProgress& row) {
  return {row.group, row.way, row.peer};
}

/// Two groups of one name are the same if their members are; a hash keeps long lists out of the table.
std::string key_of(std::string_view name, std::string_view members) {
  return std::string{name} + '\n' + std::to_string(std::hash<std::string_view>{}(members));
}

bool names_the_world(std::string_view name, std::string_view description) {
  return description == "default_pg" || (name == "0" && description.empty());
}

}  // namespace

const GroupProgress* RankProgress::in_group(std::uint32_t group) const {
  const auto found = std::ranges::lower_bound(groups, group, {}, &GroupProgress::group);
  return found != groups.end() && found->group == group ? &*found : nullptr;
}

GroupProgress& RankProgress::group_row(std::uint32_t group) {
  const auto found = std::ranges::lower_bound(groups, group, {}, &GroupProgress::group);
  if (found != groups.end() && found->group == group) return *found;
  return *groups.insert(found, GroupProgress{.group = group});
}

const PairProgress* RankProgress::pair(std::uint32_t group, CallWay way, std::int32_t peer) const {
  const auto found = std::ranges::lower_bound(pairs, std::tuple(group, way, peer), {}, key_of_pair);
  return found != pairs.end() && key_of_pair(*found) == std::tuple(group, way, peer) ? &*found : nullptr;
}

PairProgress* RankProgress::pair_row(std::uint32_t group, CallWay way, std::int32_t peer) {
  const auto found = std::ranges::lower_bound(pairs, std::tuple(group, way, peer), {}, key_of_pair);
  if (found != pairs.end() && key_of_pair(*found) == std::tuple(group, way, peer)) return &*found;
  if (pairs.size() >= most_pairs) return nullptr;
  return &*pairs.insert(found, PairProgress{.group = group, .way = way, .peer = peer});
}

std::uint32_t JobProgress::add_group(CommGroup group) {
  if (members_listed_ + group.members.size() > most_members_of_all) group.members.clear();
  members_listed_ += group.members.size();
  groups.push_back(std::move(group));
  return static_cast<std::uint32_t>(groups.size() - 1);
}

std::uint32_t JobProgress::group_of(std::string_view name, std::string_view description, std::string_view members) {
  const auto [entry, added] = rows_.try_emplace(key_of(name, members), static_cast<std::uint32_t>(groups.size()));
  if (added) {
    static_cast<void>(add_group({.name = texts.intern(name),
                                 .description = texts.intern(description),
                                 .members = members_from(members).value_or(std::vector<std::uint32_t>{}),
                                 .is_world = names_the_world(name, description)}));
  } else if (texts.text(groups[entry->second].description).empty()) {
    groups[entry->second].description = texts.intern(description);
  }
  return entry->second;
}

std::uint32_t JobProgress::group_of(std::string_view name, std::string_view description,
                                    std::vector<std::uint32_t> members) {
  std::string text;
  for (const std::uint32_t member : members) text += std::to_string(member) + ',';
  const auto [entry, added] = rows_.try_emplace(key_of(name, text), static_cast<std::uint32_t>(groups.size()));
  if (added)
    static_cast<void>(add_group({.name = texts.intern(name),
                                 .description = texts.intern(description),
                                 .members = std::move(members),
                                 .is_world = names_the_world(name, description)}));
  return entry->second;
}

void JobProgress::complete() {
  for (auto& [rank, progress] : ranks)
    for (GroupProgress& row : progress.groups) {
      if (groups[row.group].has_pairs) continue;
      row.entered = std::max(row.entered, row.enqueued_any);
      const bool has_open = std::ranges::any_of(row.recent, [](const CommCall& call) { return !call.finished; });
      if (!has_open) row.finished = std::max(row.finished, row.completed_any);
    }
  find_world_size();
  for (CommGroup& group : groups) {
    if (!group.members.empty()) continue;
    const auto size = static_cast<std::size_t>(world_size);
    if (group.is_world && members_listed_ + size <= most_members_of_all) {
      members_listed_ += size;
      for (std::uint32_t rank = 0; rank < size; ++rank) group.members.push_back(rank);
      continue;
    }
    group.members_recorded = false;
  }
  for (const auto& [rank, progress] : ranks)
    for (const GroupProgress& row : progress.groups) {
      std::vector<std::uint32_t>& members = groups[row.group].members;
      if (groups[row.group].members_recorded || (!members.empty() && members.back() >= rank)) continue;
      members.push_back(rank);
    }
}

// A file that is no dump, or a name that holds a date, must not make the job larger than its dumps show: of ranks that
// only such files name those count that a list of members has, or, without any list, that follow on each other.
void JobProgress::find_world_size() {
  for (const CommGroup& group : groups)
    for (const std::uint32_t member : group.members)
      world_size = std::max(world_size, static_cast<std::int64_t>(member) + 1);
  const bool recorded = world_size > 0;
  const auto is_known = [](const RankProgress& rank) {
    return rank.witness != Witness::nothing || rank.end.life != Life::unknown;
  };
  for (const auto& [rank, progress] : ranks)
    if (is_known(progress)) world_size = std::max(world_size, static_cast<std::int64_t>(rank) + 1);
  for (const auto& [rank, progress] : ranks)
    if (!recorded && rank == world_size) ++world_size;
  std::erase_if(ranks, [&](const auto& row) { return !is_known(row.second) && row.first >= world_size; });
}

std::optional<std::vector<std::uint32_t>> members_from(std::string_view text) {
  std::vector<std::uint32_t> members;
  while (!text.empty()) {
    if (text.front() == '[' || text.front() == ']' || text.front() == ',' || text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    const auto member =
        take_number<std::uint32_t>(text, {.least = 0, .most = static_cast<std::uint32_t>(most_ranks - 1)});
    if (!member || members.size() >= most_members) return std::nullopt;
    members.push_back(*member);
  }
  return members;
}

}  // namespace rankscope::analyzer
