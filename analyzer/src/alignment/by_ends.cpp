#include "alignment/align.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run_builder.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t apart_ns = 1'000'000;  // metrics.md 5, K5
constexpr std::size_t least_operations = 3;
constexpr double most_by_chance = 0.1;

struct End {
  std::string_view kind;
  std::int64_t ns = 0;
  RankId rank;
  std::uint32_t row = 0;

  [[nodiscard]] auto order() const { return std::tuple(kind, ns, rank, row); }
};

/// What every rank sends to every other runs as SendRecv, and only some ranks may know that it was an all-to-all.
std::string_view kind_of(std::string_view op) { return op == "sendrecv" ? "alltoall" : op; }

/// Parts that name no group and have ended on the device or in the thread that executed them.
std::vector<End> ends_without_group(const Run& run) {
  std::vector<End> ends;
  for (const Collective& part : run.collectives())
    if (!part.group.is_set() && part.state == CommState::finished)
      ends.push_back({kind_of(run.text(part.op)), ns_of(part.finished), part.rank,
                      static_cast<std::uint32_t>(&part - run.collectives().data())});
  std::ranges::sort(ends, {}, &End::order);
  return ends;
}

using Operations = std::vector<std::span<const End>>;

bool follows(const End& previous, const End& end) {
  return end.kind == previous.kind && end.ns - previous.ns <= apart_ns;
}

/// True if all ended within the limit, each on its own rank.
bool is_one(std::span<const End> ends) {
  if (ends.size() < 2 || ends.back().ns - ends.front().ns > apart_ns) return false;
  std::vector<RankId> ranks;
  for (const End& end : ends) ranks.push_back(end.rank);
  std::ranges::sort(ranks);
  return std::ranges::adjacent_find(ranks) == ranks.end();
}

/// Ends that lie together and apart from all others of their kind.
Operations operations_in(std::span<const End> ends) {
  Operations found;
  for (std::size_t begin = 0; begin < ends.size();) {
    std::size_t end = begin + 1;
    while (end < ends.size() && follows(ends[end - 1], ends[end])) ++end;
    if (is_one(ends.subspan(begin, end - begin))) found.push_back(ends.subspan(begin, end - begin));
    begin = end;
  }
  return found;
}

std::vector<RankId> ranks_in(std::span<const End> ends) {
  std::vector<RankId> ranks;
  for (const End& end : ends) ranks.push_back(end.rank);
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  return ranks;
}

/// Pairs of ends that would lie within the limit if the ends of each rank fell anywhere within the time of all.
double pairs_by_chance(std::span<const End> ends) {
  double pairs = 0;
  for (std::size_t begin = 0; begin < ends.size();) {
    std::map<RankId, double> by_rank;
    std::size_t end = begin;
    for (; end < ends.size() && ends[end].kind == ends[begin].kind; ++end) ++by_rank[ends[end].rank];
    const auto all = static_cast<double>(end - begin);
    double same_rank = 0;
    for (const auto& [rank, count] : by_rank) same_rank += count * count;
    const auto span = static_cast<double>(std::max(apart_ns, ends[end - 1].ns - ends[begin].ns));
    pairs += (all * all - same_rank) / 2 * std::min(1.0, 2 * static_cast<double>(apart_ns) / span);
    begin = end;
  }
  return pairs;
}

double pairs_in(const Operations& operations) {
  double pairs = 0;
  for (const auto& parts : operations) pairs += static_cast<double>(parts.size() * (parts.size() - 1)) / 2;
  return pairs;
}

/// Gives the operations of each set of ranks a group of their own, numbered as they ended.
class EndGrouping {
 public:
  EndGrouping(const Run& run, std::span<const End> all) : run_(run), all_(all) {}

  void add(const Operations& operations) {
    std::map<std::vector<RankId>, Operations> by_ranks;
    for (const auto& parts : operations) by_ranks[ranks_in(parts)].push_back(parts);
    for (auto& [ranks, own] : by_ranks) {
      if (own.size() < least_operations) continue;
      std::ranges::sort(own, {}, [](std::span<const End> parts) { return parts.front().ns; });
      const GroupId group = add_group(ranks);
      for (const auto& parts : own) add_parts(group, parts);
      operations_ += own.size();
    }
    if (groups_.size() == 1) add_left_over();
  }

  [[nodiscard]] EndMatching result() && {
    if (groups_.empty()) return {};
    return {
        RunBuilder::regrouped(run_, groups_, memberships_),
        format("The recording does not say which parts of ranks are one operation: {} were found by ends that agree "
               "within 1 ms, {} of {} parts.",
               operations_, matched_, all_.size())};
  }

 private:
  GroupId add_group(const std::vector<RankId>& ranks) {
    groups_.push_back({"found by ends", ranks});
    next_ = 0;
    return GroupId{static_cast<std::uint32_t>(run_.groups().size() + groups_.size() - 1)};
  }

  void add_parts(GroupId group, std::span<const End> parts) {
    for (const End& part : parts) memberships_.push_back({part.row, group, next_, part.kind});
    ++next_;
    matched_ += parts.size();
  }

  /// Where there is only one group, what found no partner is taken for the rest of it: each part stays alone.
  void add_left_over() {
    std::vector<bool> known(run_.collectives().size());
    for (const Membership& found : memberships_) known[found.row] = true;
    const GroupId group = memberships_.front().group;
    const std::vector<RankId>& ranks = groups_.front().members;
    for (const End& part : all_)
      if (!known[part.row] && std::ranges::binary_search(ranks, part.rank))
        memberships_.push_back({part.row, group, next_++, {}});
  }

  const Run& run_;
  std::span<const End> all_;
  std::vector<NewGroup> groups_;
  std::vector<Membership> memberships_;
  std::int64_t next_ = 0;  // sequence number in the last group
  std::size_t operations_ = 0;
  std::size_t matched_ = 0;
};

}  // namespace

EndMatching match_by_ends(const Run& run) {
  const std::vector<End> ends = ends_without_group(run);
  if (ranks_in(ends).size() < 2) return {};
  const Operations operations = operations_in(ends);
  EndGrouping grouping(run, ends);
  if (pairs_by_chance(ends) <= most_by_chance * pairs_in(operations)) grouping.add(operations);
  EndMatching found = std::move(grouping).result();
  if (!found.run)
    found.note =
        "The recording does not say which parts of ranks are one operation, and too few of their ends agree to find "
        "out.";
  return found;
}

}  // namespace rankscope::analyzer
