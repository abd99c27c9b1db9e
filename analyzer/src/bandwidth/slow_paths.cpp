#include "bandwidth/parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "collectives/comm_ops.h"
#include "collectives/operation_speed.h"
#include "math/statistics.h"
#include "rankscope/core/model/run.h"
#include "steps/find.h"

namespace rankscope::analyzer {
namespace {

constexpr double slow_ratio = 0.8;  // metrics.md 20
constexpr double least_share = 0.02;
constexpr double steady_ratio = 0.9;              // before it became slow
constexpr std::size_t least_path_operations = 5;  // of a path
constexpr std::size_t least_groups = 3;           // of two nobody knows which one is usual
constexpr std::size_t least_links = 4;
constexpr std::size_t windows = 5;
constexpr std::size_t least_operations_over_time = 25;
constexpr std::size_t least_operations_before = 10;

struct Moved {
  const Operation* operation;
  double gbps;
};
using PathSpeeds = std::vector<Moved>;  // by time

/// What may be compared: the same operation between equally many ranks, of similar size, inside one host or not.
struct PathKey {
  std::string op;
  std::size_t group_size = 0;
  bool one_host = false;
  SizeClass size;
  auto operator<=>(const PathKey&) const = default;
};
/// A group, or of send and receive a link.
struct Path {
  GroupId group;
  RankId from;
  RankId to;
  auto operator<=>(const Path&) const = default;
};
using PathTable = std::map<PathKey, std::map<Path, PathSpeeds>>;

std::vector<double> gbps_of(std::span<const Moved> speeds) {
  std::vector<double> gbps;
  gbps.reserve(speeds.size());
  for (const Moved& moved : speeds) gbps.push_back(moved.gbps);
  return gbps;
}
double median_of(std::span<const Moved> speeds) { return median(gbps_of(speeds)); }

/// Three quarters of them, not only the middle one: single slow operations are noise.
bool are_slow(std::span<const Moved> speeds, double usual) {
  std::vector<double> gbps = gbps_of(speeds);
  const auto third_quarter = gbps.begin() + static_cast<std::ptrdiff_t>(3 * (gbps.size() - 1) / 4);
  std::ranges::nth_element(gbps, third_quarter);
  return *third_quarter < slow_ratio * usual;
}

bool have_ranks(const Run& run, const Operation& operation) {
  return std::ranges::all_of(operation.members,
                             [&](std::uint32_t row) { return run.collectives()[row].rank.is_set(); });
}

bool on_one_host(const Run& run, const Operation& operation) {
  const StringId host = run.process_of(run.collectives()[operation.members.front()].rank).host;
  return std::ranges::all_of(
      operation.members, [&](std::uint32_t row) { return run.process_of(run.collectives()[row].rank).host == host; });
}

Path path_of(const Run& run, const Operation& operation) {
  const auto sends = [&](std::uint32_t row) { return is_send(run.text(run.collectives()[row].op)); };
  if (!is_point_to_point(run.text(operation.op))) return {operation.group, {}, {}};
  const auto sender = std::ranges::find_if(operation.members, sends);
  const auto receiver = std::ranges::find_if_not(operation.members, sends);
  if (sender == operation.members.end() || receiver == operation.members.end()) return {};
  return {{}, run.collectives()[*sender].rank, run.collectives()[*receiver].rank};
}

PathTable measured(const Run& run, const ClockTrust& clocks, std::span<const Operation* const> operations) {
  PathTable table;
  for (const Operation* operation : operations) {
    if (no_bandwidth(run, clocks, *operation) || !have_ranks(run, *operation)) continue;
    const Path path = path_of(run, *operation);
    const std::size_t size = path.group.is_set() ? run.groups()[operation->group.index()].members.size() : 2;
    const double gbps = bus_bytes(run, *operation) / static_cast<double>(operation->transfer_ns);
    table[{group_operation(run, *operation), size, on_one_host(run, *operation), size_class_of(operation->bytes)}][path]
        .push_back({operation, gbps});
  }
  return table;
}

/// Medians of the paths that were measured often enough, ascending.
std::vector<double> medians_of(const std::map<Path, PathSpeeds>& paths) {
  std::vector<double> medians;
  for (const auto& [path, speeds] : paths)
    if (speeds.size() >= least_path_operations) medians.push_back(median_of(speeds));
  std::ranges::sort(medians);
  return medians;
}

/// The median of all but the own one, which must be among them.
double median_of_others(std::span<const double> medians, double own) {
  std::vector<double> others(medians.begin(), medians.end());
  others.erase(std::ranges::find(others, own));
  return median(std::move(others));
}

/// Where in the series it became slow and stayed so to the end; nothing where it did not. The window in which it
/// changed may be of both kinds.
std::optional<std::size_t> slow_since(const PathSpeeds& speeds) {
  if (speeds.size() < least_operations_over_time) return std::nullopt;
  const auto begin_of = [&](std::size_t window) { return speeds.size() * window / windows; };
  const auto part = [&](std::size_t first, std::size_t last) {
    return std::span{speeds}.subspan(begin_of(first), begin_of(last) - begin_of(first));
  };
  for (std::size_t changed = 0; changed + 1 < windows; ++changed) {
    if (begin_of(changed + 1) < least_operations_before) continue;
    const double before = median_of(part(0, std::max<std::size_t>(changed, 1)));
    bool holds = true;
    for (std::size_t window = 0; window < windows; ++window) {
      if (window < changed) holds = holds && median_of(part(window, window + 1)) >= steady_ratio * before;
      if (window > changed) holds = holds && are_slow(part(window, window + 1), before);
    }
    if (!holds) continue;
    std::size_t since = begin_of(changed);
    while (speeds[since].gbps >= slow_ratio * before) ++since;
    if (since >= least_operations_before) return since;
  }
  return std::nullopt;
}

class Judge {
 public:
  Judge(const Run& run, const Section<StepsSection>& steps, std::span<const RankRow> rows)
      : run_(run), steps_(steps), rows_(rows) {}

  void add(const PathKey& key, const Path& path, std::span<const Moved> slow, double usual, std::size_t compared) {
    SlowPath found;
    found.kind = path.group.is_set() ? SlowPath::Kind::group : SlowPath::Kind::link;
    if (path.group.is_set()) {
      found.name = run_.text(run_.groups()[path.group.index()].name);
      found.ranks = run_.groups()[path.group.index()].members;
    } else {
      found.ranks = {path.from, path.to};
    }
    found.op = key.op;
    found.size = key.size;
    found.gbps = median_of(slow);
    found.usual_gbps = usual;
    found.ratio = found.gbps / usual;
    found.compared = compared;
    if (compared == 0) found.since_step = step_of(*slow.front().operation);
    cost(slow, found);
    if (found.share >= least_share) found_.push_back(std::move(found));
  }

  [[nodiscard]] std::vector<SlowPath> found() && {
    std::ranges::stable_sort(found_, std::greater{}, &SlowPath::share);
    return std::move(found_);
  }

 private:
  /// What its transfers took longer, but no more than its ranks stood in transfers that nothing hides.
  void cost(std::span<const Moved> slow, SlowPath& found) const {
    double longer = 0;
    for (const Moved& moved : slow)
      if (is_counted(*moved.operation)) longer += static_cast<double>(moved.operation->transfer_ns) * (1 - found.ratio);
    double exposed = 0;
    double window = 0;
    double members = 0;
    for (const RankRow& row : rows_) {
      if (std::ranges::find(found.ranks, row.rank) == found.ranks.end()) continue;
      exposed += static_cast<double>(row.total.exposed_transfer_ns);
      window += static_cast<double>(row.total.window_ns);
      ++members;
    }
    if (window <= 0) return;
    const double cost = std::min(longer, exposed / members);
    found.cost_ns = std::llround(cost);
    found.share = cost * members / window;
  }

  /// Shares are of the counted steps, where there are any.
  [[nodiscard]] bool is_counted(const Operation& operation) const {
    if (!steps_) return true;
    const std::optional<std::int64_t> step = step_of(operation);
    return step && steps_->counted(*step);
  }

  [[nodiscard]] std::optional<std::int64_t> step_of(const Operation& operation) const {
    if (!steps_) return std::nullopt;
    const Collective& member = run_.collectives()[operation.members.front()];
    for (const StepWindow& window : windows_of(*steps_, member.rank))
      if (window.window.contains(member.started)) return window.index;
    return std::nullopt;
  }

  const Run& run_;
  const Section<StepsSection>& steps_;
  std::span<const RankRow> rows_;
  std::vector<SlowPath> found_;
};

void judge_paths(const PathKey& key, const std::map<Path, PathSpeeds>& paths, Judge& judge) {
  const std::vector<double> medians = medians_of(paths);
  for (const auto& [path, speeds] : paths) {
    const bool beside =
        speeds.size() >= least_path_operations && medians.size() >= (path.group.is_set() ? least_groups : least_links);
    const double usual = beside ? median_of_others(medians, median_of(speeds)) : 0;
    if (beside && are_slow(speeds, usual)) {
      judge.add(key, path, speeds, usual, medians.size() - 1);
    } else if (const auto since = slow_since(speeds)) {
      judge.add(key, path, std::span{speeds}.subspan(*since), median_of(std::span{speeds}.first(*since)), 0);
    }
  }
}

/// Links out of `all` by one of their ends: how many there are.
std::map<RankId, std::size_t> count_by(const std::set<std::pair<RankId, RankId>>& links, bool by_sender) {
  std::map<RankId, std::size_t> counts;
  for (const auto& [from, to] : links) ++counts[by_sender ? from : to];
  return counts;
}

/// A row of the matrix of links that is slow as a whole is its sender, a column its receiver (9.7).
void name_ends(std::vector<SlowPath>& slow, const std::set<std::pair<RankId, RankId>>& measured_links) {
  std::set<std::pair<RankId, RankId>> slow_links;
  for (const SlowPath& path : slow)
    if (path.kind == SlowPath::Kind::link) slow_links.emplace(path.ranks[0], path.ranks[1]);
  for (const bool by_sender : {true, false}) {
    const auto all = count_by(measured_links, by_sender);
    for (const auto& [rank, count] : count_by(slow_links, by_sender)) {
      if (count < 2 || count < all.at(rank)) continue;
      const auto is_of = [&](const SlowPath& path) {
        return path.kind == SlowPath::Kind::link && path.ranks[by_sender ? 0 : 1] == rank;
      };
      const auto first = std::ranges::find_if(slow, is_of);
      if (first == slow.end()) continue;
      SlowPath whole = *first;  // the one that costs most
      std::erase_if(slow, is_of);
      whole.kind = by_sender ? SlowPath::Kind::sender : SlowPath::Kind::receiver;
      whole.ranks = {rank};
      slow.push_back(std::move(whole));
    }
  }
}

}  // namespace

std::vector<SlowPath> slow_paths(const Run& run, const ClockTrust& clocks, const Section<StepsSection>& steps,
                                 std::span<const RankRow> rows, std::span<const Operation* const> operations) {
  Judge judge{run, steps, rows};
  std::set<std::pair<RankId, RankId>> links;
  for (const auto& [key, paths] : measured(run, clocks, operations)) {
    judge_paths(key, paths, judge);
    for (const auto& [path, speeds] : paths)
      if (!path.group.is_set() && speeds.size() >= least_path_operations) links.emplace(path.from, path.to);
  }
  std::vector<SlowPath> slow = std::move(judge).found();
  name_ends(slow, links);
  std::ranges::stable_sort(slow, std::greater{}, &SlowPath::share);
  return slow;
}

}  // namespace rankscope::analyzer
