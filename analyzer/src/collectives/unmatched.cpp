#include "collectives/matching.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

#include "collectives/comm_ops.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

constexpr std::string_view absent = "other ranks took part, but their recordings were not given";
constexpr std::string_view open = "the call was not finished: the rank hung or ended during it, or the recording ended";
constexpr std::string_view open_elsewhere =
    "the operation was not finished on the other ranks: they hung or ended during it";
constexpr std::string_view lost =
    "the end of the call was not recorded, probably because events of the rank were lost (see DATA QUALITY)";
constexpr std::string_view lost_elsewhere =
    "events of the other ranks were lost, probably also those of this operation (see DATA QUALITY)";
constexpr std::string_view disagree =
    "the ranks disagree about what the operation is: probably a bug in the recorded program";
constexpr std::string_view no_partner = "the recording does not say which rank was the partner";
constexpr std::string_view no_end =
    "it is not clear which operation on the other ranks belongs to this call: their end times do not show it";
constexpr std::string_view outside =
    "the other ranks recorded only earlier or later operations: the recordings do not cover the same time";
constexpr std::string_view inside =
    "other ranks recorded earlier and later operations, but not this one: it was lost, or the program skipped it on "
    "those ranks (a bug that can lead to a hang)";
constexpr std::string_view fewer =
    "the partner recorded fewer operations: the recordings do not cover the same time, or the program skipped the call "
    "(a bug that can lead to a hang)";
constexpr std::string_view unordered =
    "the call has no sequence number, so its place among the calls of the other ranks is not known: the other ranks "
    "called different operations in this step, or their calls ended before this call began";
constexpr std::string_view again = "the rank had recorded this operation before, for example before a restart";

struct Numbers {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

RunTime begin_of(const Collective& row) { return row.state == CommState::enqueued ? row.enqueued : row.started; }

class Reasons {
 public:
  Reasons(const Run& run, const RowSet& matched, const RowSet& desynced)
      : run_(run), matched_(matched), desynced_(desynced) {
    for (const QualityPlace& place : run.info().places)
      if (place.rank.is_set() && info_of(place.counter).severity == Severity::data_loss) note_loss(place);
    for (const Collective& row : run.collectives()) {
      if (!is_shared(run, row)) continue;
      const bool pair = is_point_to_point(run.text(row.op));
      if (pair && row.state != CommState::finished) open_pairs_.insert({row.group, row.rank.value, row.peer});
      if (pair || row.sequence < 0) continue;
      if (row.state != CommState::finished) open_.insert({row.group, row.sequence});
      const auto [known, added] = numbers_.try_emplace({row.group, row.rank}, Numbers{row.sequence, row.sequence});
      known->second = {std::min(known->second.first, row.sequence), std::max(known->second.last, row.sequence)};
    }
  }

  [[nodiscard]] std::string_view why(std::uint32_t index) const {
    const Collective& row = run_.collectives()[index];
    if (row.state != CommState::finished) return lost_after(row.rank, row) ? lost : open;
    if (desynced_[index]) return disagree;
    const Group& group = run_.groups()[row.group.index()];
    const bool pair = is_point_to_point(run_.text(row.op));
    if (pair && row.peer < 0) return no_partner;
    if (pair ? !is_given(row.peer) : std::ranges::none_of(group.members, [&](RankId rank) {
          return rank != row.rank && is_given(rank.value);
        }))
      return absent;
    if (group.by_ends) return no_end;
    if (pair ? lost_after(RankId{static_cast<std::uint32_t>(row.peer)}, row)
             : std::ranges::any_of(group.members,
                                   [&](RankId rank) { return rank != row.rank && lost_after(rank, row); }))
      return lost_elsewhere;
    if (pair) return open_pairs_.contains({row.group, row.peer, row.rank.value}) ? open_elsewhere : fewer;
    if (row.sequence < 0) return unordered;
    if (open_.contains({row.group, row.sequence})) return open_elsewhere;
    if (index > 0 && is_same(run_.collectives()[index - 1], row) && matched_[index - 1]) return again;
    return any_around(group, row) ? inside : outside;
  }

 private:
  [[nodiscard]] bool is_given(std::int64_t rank) const {
    return rank >= 0 && std::ranges::binary_search(run_.ranks(), RankId{static_cast<std::uint32_t>(rank)});
  }
  void note_loss(const QualityPlace& place) {
    RunTime& last = lossy_.try_emplace(place.rank, RunTime::min()).first->second;
    last = std::max(last, place.time ? place.time->end : RunTime::max());
  }
  /// True if events of the rank may be lost that ended this call or its counterpart.
  [[nodiscard]] bool lost_after(RankId rank, const Collective& row) const {
    const auto last = lossy_.find(rank);
    return last != lossy_.end() && last->second >= begin_of(row);
  }
  static bool is_same(const Collective& a, const Collective& b) {
    return a.rank == b.rank && a.group == b.group && a.sequence == b.sequence;
  }
  /// True if another rank has operations of the group on both sides of this one.
  [[nodiscard]] bool any_around(const Group& group, const Collective& row) const {
    return std::ranges::any_of(group.members, [&](RankId rank) {
      if (rank == row.rank) return false;
      const auto known = numbers_.find({row.group, rank});
      return known != numbers_.end() && known->second.first < row.sequence && row.sequence < known->second.last;
    });
  }

  const Run& run_;
  const RowSet& matched_;
  const RowSet& desynced_;
  std::map<RankId, RunTime> lossy_;  // of which events are lost, and until when
  std::map<std::pair<GroupId, RankId>, Numbers> numbers_;
  std::set<std::pair<GroupId, std::int64_t>> open_;                       // operations that some rank did not finish
  std::set<std::tuple<GroupId, std::int64_t, std::int64_t>> open_pairs_;  // (group, rank, peer) of such sends, receives
};

}  // namespace

std::vector<UnmatchedParts> explain_unmatched(const Run& run, const RowSet& matched, const RowSet& desynced,
                                              const RowSet* only) {
  const auto is_meant = [&](std::uint32_t index) {
    return !matched[index] && is_shared(run, run.collectives()[index]) && (only == nullptr || (*only)[index]);
  };
  const auto rows = std::views::iota(0U, static_cast<std::uint32_t>(run.collectives().size()));
  if (std::ranges::none_of(rows, is_meant)) return {};
  const Reasons reasons{run, matched, desynced};
  std::map<std::tuple<std::string_view, GroupId, std::string_view>, UnmatchedParts> sums;
  for (const std::uint32_t index : rows) {
    if (!is_meant(index)) continue;
    const Collective& row = run.collectives()[index];
    const std::string_view why = reasons.why(index);
    UnmatchedParts& parts = sums[{why, row.group, run.text(row.op)}];
    if (parts.count == 0 || begin_of(row) < parts.first) {
      parts.rank = row.rank;
      parts.first = begin_of(row);
    }
    ++parts.count;
  }
  std::vector<UnmatchedParts> list;
  for (auto& [key, parts] : sums) {
    parts.why = std::get<0>(key);
    parts.group = run.text(run.groups()[std::get<1>(key).index()].name);
    parts.op = std::get<2>(key);
    list.push_back(std::move(parts));
  }
  std::ranges::stable_sort(list, std::ranges::greater{}, &UnmatchedParts::count);
  return list;
}

}  // namespace rankscope::analyzer
