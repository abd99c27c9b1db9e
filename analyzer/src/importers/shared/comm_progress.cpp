#include "importers/shared/comm_progress.h"

#include <algorithm>

#include "rankscope/analyzer/open.h"
#include "rankscope/core/numbers.h"

namespace rankscope::analyzer {
namespace {

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
  const auto found = std::ranges::find_if(
      pairs, [&](const PairProgress& row) { return row.group == group && row.way == way && row.peer == peer; });
  return found == pairs.end() ? nullptr : &*found;
}

PairProgress& RankProgress::pair_row(std::uint32_t group, CallWay way, std::int32_t peer) {
  const auto found = std::ranges::find_if(
      pairs, [&](const PairProgress& row) { return row.group == group && row.way == way && row.peer == peer; });
  if (found != pairs.end()) return *found;
  return pairs.emplace_back(PairProgress{.group = group, .way = way, .peer = peer});
}

std::uint32_t JobProgress::group_of(std::string_view name, std::string_view description, std::string_view members) {
  const auto [entry, added] = rows_.try_emplace(key_of(name, members), static_cast<std::uint32_t>(groups.size()));
  if (added) {
    groups.push_back({.name = texts.intern(name),
                      .description = texts.intern(description),
                      .members = members_from(members).value_or(std::vector<std::uint32_t>{}),
                      .is_world = names_the_world(name, description)});
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
    groups.push_back({.name = texts.intern(name),
                      .description = texts.intern(description),
                      .members = std::move(members),
                      .is_world = names_the_world(name, description)});
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
  for (const CommGroup& group : groups)
    for (const std::uint32_t member : group.members)
      world_size = std::max(world_size, static_cast<std::int64_t>(member) + 1);
  if (!ranks.empty()) world_size = std::max(world_size, static_cast<std::int64_t>(ranks.rbegin()->first) + 1);
  for (std::uint32_t row = 0; row < groups.size(); ++row) {
    CommGroup& group = groups[row];
    if (!group.members.empty()) continue;
    if (group.is_world) {
      for (std::uint32_t rank = 0; rank < world_size; ++rank) group.members.push_back(rank);
      continue;
    }
    group.members_recorded = false;
    for (const auto& [rank, progress] : ranks)
      if (progress.in_group(row) != nullptr) group.members.push_back(rank);
  }
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
    if (!member || members.size() >= static_cast<std::size_t>(most_ranks)) return std::nullopt;
    members.push_back(*member);
  }
  return members;
}

}  // namespace rankscope::analyzer
