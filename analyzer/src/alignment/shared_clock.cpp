#include "alignment/shared_clock.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "alignment/solve.h"
#include "clocks/clock_trust.h"

namespace rankscope::analyzer::clocks {
namespace {

constexpr double without_limit = std::numeric_limits<double>::infinity();
constexpr double possible_drift = 100e-6;   // metrics.md 7.4
constexpr double late_exit_ns = 1'000'000;  // in one operation at least, no rank leaves later than that after another
constexpr double apart_scatters = 3;
constexpr double most_by_accident = 0.05;  // distances that are this close to 0 by accident, at most
constexpr std::size_t few_exits = 9;       // fewer may all be late by chance
constexpr std::size_t least_exits = 3;     // fewer say nothing
constexpr std::size_t least_parts = 40;    // starts and ends of each rank
constexpr std::size_t most_pieces = 100;
constexpr std::size_t most_sources = 64;  // ranks of which all pairs are examined

/// By how much the exits on one rank are later than those on another, over several operations.
struct ExitDistances {
  std::size_t count = 0;
  double least = without_limit;
  double most = -without_limit;
  double closest = without_limit;  ///< to 0

  void add(double distance) {
    ++count;
    closest = std::min(closest, std::abs(distance));
    least = std::min(least, distance);
    most = std::max(most, distance);
  }
  [[nodiscard]] double scatter() const { return most - least; }
  /// True if the other rank always leaves earlier, or always later, by far more than the distances scatter.
  [[nodiscard]] bool stands_apart() const {
    const double nearest = std::max(least, -most);
    return count >= least_exits && nearest > apart_scatters * scatter() + duration_claim_ns;
  }
  /// True if some exits are so close together that distances which fell anywhere between the extremes would hardly be.
  [[nodiscard]] bool coincide() const {
    return static_cast<double>(count) * 2 * closest < most_by_accident * scatter();
  }
  /// How far the clock of the one can be ahead of that of the other.
  [[nodiscard]] double most_ahead() const {
    if (count < least_exits) return without_limit;
    if (coincide()) return closest + late_exit_ns;
    return std::max(0.0, most + late_exit_ns + (count < few_exits ? scatter() : 0));
  }
};

/// From a clock to one that can be ahead of it by so much.
struct Reach {
  std::size_t to = 0;
  double ahead = 0;
};

/// Bounds between clocks, some of them by way of operations.
class Bounds {
 public:
  explicit Bounds(std::size_t ranks) : ranks_(ranks), from_(ranks) {}

  void add(std::size_t from, std::size_t to, double ahead) { from_[from].push_back({to, ahead}); }
  std::size_t add_operation() {
    from_.emplace_back();
    return from_.size() - 1;
  }

  /// How far any clock can be ahead of this one.
  [[nodiscard]] double farthest_from(std::size_t source) const {
    std::vector<double> ahead(from_.size(), without_limit);
    using Reached = std::pair<double, std::size_t>;
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
    ahead[source] = 0;
    open.emplace(0, source);
    while (!open.empty()) {
      const auto [so_far, at] = open.top();
      open.pop();
      if (so_far > ahead[at]) continue;
      for (const Reach& bound : from_[at]) {
        if (!(so_far + bound.ahead < ahead[bound.to])) continue;
        ahead[bound.to] = so_far + bound.ahead;
        open.emplace(ahead[bound.to], bound.to);
      }
    }
    return *std::max_element(ahead.begin(), ahead.begin() + static_cast<std::ptrdiff_t>(ranks_));
  }

  [[nodiscard]] Bounds reversed() const {
    Bounds result{ranks_};
    result.from_.resize(from_.size());
    for (std::size_t from = 0; from < from_.size(); ++from)
      for (const Reach& bound : from_[from]) result.add(bound.to, from, bound.ahead);
    return result;
  }

 private:
  std::size_t ranks_;
  std::vector<std::vector<Reach>> from_;  // ranks, then operations
};

/// What a number of successive operations says.
class Stretch {
 public:
  Stretch(std::span<const Crossing> crossings, std::size_t ranks) : ranks_(ranks), bounds_(ranks) {
    for (const Crossing& crossing : crossings) add(crossing);
    for (const auto& [pair, distances] : exits_) {
      possible_ = possible_ && !distances.stands_apart();
      if (distances.most_ahead() < without_limit) bounds_.add(pair.first, pair.second, distances.most_ahead());
    }
  }

  [[nodiscard]] bool is_possible() const { return possible_; }

  /// The largest distance between two clocks. Of many ranks only what each is from the first one.
  [[nodiscard]] double farthest_apart_ns() const {
    if (ranks_ > most_sources) return bounds_.farthest_from(0) + bounds_.reversed().farthest_from(0);
    double farthest = 0;
    for (std::size_t rank = 0; rank < ranks_; ++rank) farthest = std::max(farthest, bounds_.farthest_from(rank));
    return farthest;
  }

 private:
  void add(const Crossing& crossing) {
    const std::int64_t last = crossing.last_entry_ns();
    const std::size_t operation = bounds_.add_operation();
    for (const ShownTime& entry : crossing.entries)
      bounds_.add(entry.rank_row, operation, static_cast<double>(last - entry.ns));
    for (const ShownTime& exit : crossing.exits) {
      const auto room = static_cast<double>(exit.ns - last);
      possible_ = possible_ && room >= -duration_claim_ns;
      bounds_.add(operation, exit.rank_row, std::max(0.0, room));
    }
    if (crossing.ends_together) compare_exits(crossing.exits);
  }

  /// All pairs, both ways; of many ranks those with the first one.
  void compare_exits(std::span<const ShownTime> exits) {
    const std::size_t firsts = exits.size() <= most_sources ? exits.size() : 1;
    for (std::size_t a = 0; a < firsts; ++a) {
      for (std::size_t b = a + 1; b < exits.size(); ++b) {
        const auto later = static_cast<double>(exits[b].ns - exits[a].ns);
        exits_[{exits[a].rank_row, exits[b].rank_row}].add(later);
        exits_[{exits[b].rank_row, exits[a].rank_row}].add(-later);
      }
    }
  }

  std::size_t ranks_;
  Bounds bounds_;
  std::map<std::pair<std::size_t, std::size_t>, ExitDistances> exits_;
  bool possible_ = true;
};

/// Where stretches begin in which each rank takes part so often, and the end of the last one.
std::vector<std::size_t> stretch_bounds(std::span<const Crossing> crossings, std::size_t ranks) {
  const std::size_t enough = std::max(least_parts, crossings.size() / most_pieces);
  std::vector<std::size_t> bounds{0};
  std::vector<std::size_t> parts(ranks, 0);
  for (std::size_t i = 0; i < crossings.size(); ++i) {
    for (const ShownTime& entry : crossings[i].entries) ++parts[entry.rank_row];
    for (const ShownTime& exit : crossings[i].exits) ++parts[exit.rank_row];
    if (std::ranges::min(parts) < enough) continue;
    bounds.push_back(i + 1);
    parts.assign(ranks, 0);
  }
  if (bounds.size() > 1) bounds.pop_back();  // what remains belongs to the last one
  bounds.push_back(crossings.size());
  return bounds;
}

/// From the last operation before a stretch to the first one after it.
double reach_ns(std::span<const Crossing> crossings, std::size_t begin, std::size_t end, TimeRange recorded) {
  const std::int64_t from = begin == 0 ? ns_of(recorded.begin) : crossings[begin - 1].last_entry_ns();
  const std::int64_t to = end == crossings.size() ? ns_of(recorded.end) : crossings[end].last_entry_ns();
  return static_cast<double>(to - from);
}

}  // namespace

std::optional<std::int64_t> shared_clock_error_ns(std::span<const Crossing> crossings, std::size_t ranks,
                                                  TimeRange recorded) {
  if (crossings.empty()) return std::nullopt;
  const std::vector<std::size_t> bounds = stretch_bounds(crossings, ranks);
  double error = 0;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    const Stretch stretch{crossings.subspan(bounds[i], bounds[i + 1] - bounds[i]), ranks};
    if (!stretch.is_possible()) return std::nullopt;
    const double drift = possible_drift * reach_ns(crossings, bounds[i], bounds[i + 1], recorded);
    error = std::max(error, stretch.farthest_apart_ns() + drift + duration_claim_ns);
  }
  if (!(error < useless_error_ns)) return std::nullopt;
  return std::llround(error);
}

}  // namespace rankscope::analyzer::clocks
