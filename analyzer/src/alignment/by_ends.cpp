#include "alignment/align.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/comm_ops.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/run_builder.h"

namespace rankscope::analyzer {
namespace {

/// How far the ends of one operation may lie apart (metrics.md 5, K5).
struct Tolerance {
  std::int64_t apart_ns;
  std::string_view text;
  bool by_order;  ///< as many parts of each rank in a row are one operation each, in their order
};
// Ends of one operation differ by up to 27 µs on one clock in public recordings (metrics.md 7).
constexpr Tolerance near_ends{50'000, "50 µs", true};
constexpr Tolerance far_ends{1'000'000, "1 ms", false};
constexpr std::size_t least_operations = 3;
constexpr double most_by_chance = 0.1;
constexpr std::size_t one_matched_of = 10;  // a part in so many is matched, or what agrees is an accident

struct End {
  std::string_view kind;
  std::int64_t ns = 0;
  RankId rank;
  std::uint32_t row = 0;
  std::int64_t bytes = -1;

  [[nodiscard]] auto order() const { return std::tuple(kind, ns, rank, row); }
};

/// What every rank sends to every other runs as SendRecv, and only some ranks may know that it was an all-to-all.
std::string_view kind_of(std::string_view op) { return op == "sendrecv" ? "alltoall" : op; }

/// Parts that name no group and have ended on the device or in the thread that executed them.
std::vector<End> ends_without_group(const Run& run) {
  std::vector<End> ends;
  for (const Collective& part : run.collectives())
    if (!part.group.is_set() && part.state == CommState::finished && !is_point_to_point(run.text(part.op)))
      ends.push_back({kind_of(run.text(part.op)), ns_of(part.finished), part.rank,
                      static_cast<std::uint32_t>(&part - run.collectives().data()), part.bytes});
  std::ranges::sort(ends, {}, &End::order);
  return ends;
}

using Operations = std::vector<std::vector<End>>;

/// True if all ended within the limit, each on its own rank, and none is known to be of another size.
bool is_one(std::span<const End> ends, std::int64_t apart_ns) {
  if (ends.size() < 2) return false;
  const auto [first, last] = std::ranges::minmax(ends, {}, &End::ns);
  if (last.ns - first.ns > apart_ns) return false;
  std::vector<RankId> ranks;
  std::int64_t bytes = -1;
  for (const End& end : ends) {
    ranks.push_back(end.rank);
    if (bytes >= 0 && end.bytes >= 0 && bytes != end.bytes && comm_op(end.kind).same_bytes) return false;
    bytes = std::max(bytes, end.bytes);
  }
  std::ranges::sort(ranks);
  return std::ranges::adjacent_find(ranks) == ranks.end();
}

/// The n-th parts of all ranks are one operation, if every rank has as many and all of these agree.
Operations by_order(std::span<const End> burst, std::int64_t apart_ns) {
  std::map<RankId, std::vector<End>> by_rank;
  for (const End& end : burst) by_rank[end.rank].push_back(end);
  Operations found(by_rank.begin()->second.size());
  for (const auto& [rank, ends] : by_rank) {
    if (ends.size() != found.size()) return {};
    for (std::size_t i = 0; i < ends.size(); ++i) found[i].push_back(ends[i]);
  }
  const bool agree = std::ranges::all_of(found, [apart_ns](const auto& ends) { return is_one(ends, apart_ns); });
  return agree ? found : Operations{};
}

/// What was found among the ends with one tolerance.
struct Found {
  Tolerance tolerance;
  Operations operations;
  double by_chance = 0;  ///< pairs of events that would agree if those of each rank fell anywhere in the time of all
  double pairs = 0;      ///< that agree
};

std::vector<RankId> ranks_in(std::span<const End> ends) {
  std::vector<RankId> ranks;
  for (const End& end : ends) ranks.push_back(end.rank);
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  return ranks;
}

/// Of ends of one kind, by time. Where order counts, what a rank ends in quick succession is one event.
std::map<RankId, double> events_of(std::span<const End> ends, const Tolerance& tolerance) {
  std::map<RankId, double> events;
  std::map<RankId, std::int64_t> last;
  for (const End& end : ends) {
    const auto [previous, first] = last.try_emplace(end.rank, end.ns);
    if (first || !tolerance.by_order || end.ns - previous->second > tolerance.apart_ns) ++events[end.rank];
    previous->second = end.ns;
  }
  return events;
}

/// Of a burst all of whose ends are in operations: in each event all of its ranks agree with one another.
double pairs_in(std::span<const End> burst, const Tolerance& tolerance) {
  double fewest = std::numeric_limits<double>::max();
  const std::map<RankId, double> events = events_of(burst, tolerance);
  for (const auto& [rank, count] : events) fewest = std::min(fewest, count);
  const auto ranks = static_cast<double>(events.size());
  return fewest * ranks * (ranks - 1) / 2;
}

/// Of ends of one kind, by time, that lie `apart_ns` apart at most.
double pairs_by_chance(std::span<const End> ends, const Tolerance& tolerance, std::int64_t apart_ns) {
  double all = 0;
  double same_rank = 0;
  for (const auto& [rank, count] : events_of(ends, tolerance)) {
    all += count;
    same_rank += count * count;
  }
  const auto apart = static_cast<double>(apart_ns);
  const double time = std::max(apart, static_cast<double>(ends.back().ns - ends.front().ns));
  return (all * all - same_rank) / 2 * std::min(1.0, 2 * apart / time);
}

std::int64_t farthest_apart_ns(const Operations& operations) {
  std::int64_t most = 1;
  for (const auto& parts : operations) {
    const auto [first, last] = std::ranges::minmax(parts, {}, &End::ns);
    most = std::max(most, last.ns - first.ns);
  }
  return most;
}

/// Ends that lie together and apart from all others of their kind.
Found operations_in(std::span<const End> ends, const Tolerance& tolerance) {
  Found found{.tolerance = tolerance, .operations = {}};
  for (std::size_t begin = 0; begin < ends.size();) {
    std::size_t end = begin + 1;
    while (end < ends.size() && ends[end].kind == ends[begin].kind &&
           ends[end].ns - ends[end - 1].ns <= tolerance.apart_ns)
      ++end;
    const auto burst = ends.subspan(begin, end - begin);
    const std::size_t before = found.operations.size();
    if (is_one(burst, tolerance.apart_ns))
      found.operations.emplace_back(burst.begin(), burst.end());
    else if (tolerance.by_order)
      std::ranges::move(by_order(burst, tolerance.apart_ns), std::back_inserter(found.operations));
    if (found.operations.size() > before) found.pairs += pairs_in(burst, tolerance);
    begin = end;
  }
  // Ends that agree more closely than they had to are less likely to agree by chance.
  const std::int64_t apart = tolerance.by_order ? farthest_apart_ns(found.operations) : tolerance.apart_ns;
  for (std::size_t begin = 0; begin < ends.size();) {
    std::size_t end = begin + 1;
    while (end < ends.size() && ends[end].kind == ends[begin].kind) ++end;
    found.by_chance += pairs_by_chance(ends.subspan(begin, end - begin), tolerance, apart);
    begin = end;
  }
  return found;
}

/// Parts in sets of ranks that have enough operations in common; 0 where chance would explain them.
std::size_t parts_found(const Found& found) {
  if (found.by_chance > most_by_chance * found.pairs) return 0;
  std::map<std::vector<RankId>, Operations::size_type> operations;
  for (const auto& parts : found.operations) ++operations[ranks_in(parts)];
  std::size_t parts = 0;
  for (const auto& [ranks, count] : operations)
    if (count >= least_operations) parts += ranks.size() * count;
  return parts;
}

/// Gives the operations of each set of ranks a group of their own, numbered as they ended.
class EndGrouping {
 public:
  EndGrouping(const Run& run, std::span<const End> all) : run_(run), all_(all) {}

  void add(const Found& found) {
    note_ = format(" (within {}", found.tolerance.text);
    note_ += found.tolerance.by_order ? ", in the same order on all ranks)" : ")";
    by_chance_ = 100 * found.by_chance / found.pairs;
    std::map<std::vector<RankId>, Operations> by_ranks;
    for (const auto& parts : found.operations) by_ranks[ranks_in(parts)].push_back(parts);
    for (auto& [ranks, own] : by_ranks) {
      if (own.size() < least_operations) continue;
      std::ranges::sort(own, {}, [](const auto& parts) { return parts.front().ns; });
      const GroupId group = add_group(ranks);
      for (const auto& parts : own) add_parts(group, parts);
      operations_ += own.size();
    }
    if (groups_.size() == 1) add_left_over();
  }

  [[nodiscard]] TimeMatching result() && {
    if (groups_.empty()) return {};
    return {RunBuilder::regrouped(run_, groups_, memberships_),
            format("The recording does not say which calls of the ranks belong to the same collective. {} "
                   "collectives were matched by the times at which they end{}; they contain {} of {} calls. "
                   "About {:.1f} % of such matches are expected to be due to chance.",
                   operations_, note_, matched_, all_.size(), by_chance_)};
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
  std::string note_;      // how they were found
  double by_chance_ = 0;  // percent of the pairs
};

}  // namespace

TimeMatching match_by_ends(const Run& run) {
  const std::vector<End> ends = ends_without_group(run);
  if (ranks_in(ends).size() < 2) return {};
  const Found narrow = operations_in(ends, near_ends);
  const Found loose = operations_in(ends, far_ends);
  const Found& better = parts_found(loose) > parts_found(narrow) ? loose : narrow;
  EndGrouping grouping(run, ends);
  const std::size_t parts = parts_found(better);
  if (parts > 0 && parts * one_matched_of >= ends.size()) grouping.add(better);
  TimeMatching found = std::move(grouping).result();
  if (!found.run)
    found.note =
        "The recording does not say which calls of different ranks form one operation, and too few calls end at the "
        "same time to infer it.";
  return found;
}

}  // namespace rankscope::analyzer
