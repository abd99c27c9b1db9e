#include "alignment/solve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace rankscope::analyzer::clocks {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// What may be added to the times of `to` is at most what is added to those of `from`, plus `room`.
struct Bound {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double room = 0;
};

std::vector<Bound> bounds_of(std::span<const Edge> edges, std::span<const Position> positions) {
  std::vector<Bound> bounds;
  for (const Edge& edge : edges) {
    const Position& a = positions[edge.a];
    const Position& b = positions[edge.b];
    if (a.reference != b.reference) continue;
    Bound later{edge.a, edge.b, unbounded};
    Bound earlier{edge.b, edge.a, unbounded};
    for (const Shared& operation : edge.operations) {
      const auto room = [](const ClockMap& ends, std::int64_t end, const ClockMap& starts, std::int64_t start) {
        return static_cast<double>((ends.run_time(at(end)) - starts.run_time(at(start))).count());
      };
      later.room = std::min(later.room, room(a.map, operation.end_a, b.map, operation.start_b));
      earlier.room = std::min(earlier.room, room(b.map, operation.end_b, a.map, operation.start_a));
    }
    bounds.push_back(later);
    bounds.push_back(earlier);
  }
  return bounds;
}

/// Lowers values until no bound is broken (Bellman, Ford); false if that never ends: the bounds contradict each other.
bool relax(std::span<const Bound> bounds, std::vector<double>& values) {
  for (std::size_t round = 0; round <= values.size(); ++round) {
    bool moved = false;
    for (const Bound& bound : bounds) {
      if (!(values[bound.from] + bound.room < values[bound.to] - 0.5)) continue;
      values[bound.to] = values[bound.from] + bound.room;
      moved = true;
    }
    if (!moved) return true;
  }
  return false;
}

/// The least that may be added to each clock while the references stay; nothing if the bounds contradict each other.
std::optional<std::vector<double>> lowest(std::vector<Bound> bounds, std::span<const Position> positions) {
  for (Bound& bound : bounds) std::swap(bound.from, bound.to);
  std::vector<double> values(positions.size(), unbounded);
  for (std::uint32_t clock = 0; clock < positions.size(); ++clock)
    if (positions[clock].reference == clock) values[clock] = 0;
  if (!relax(bounds, values)) return std::nullopt;
  for (double& value : values) value = std::isfinite(value) ? -value : 0;
  return values;
}

/// What is to be added to each clock, as little as it takes; nothing if the bounds contradict each other.
std::optional<std::vector<double>> least_moves(std::span<const Bound> bounds, std::span<const Position> positions) {
  std::optional<std::vector<double>> moves = lowest({bounds.begin(), bounds.end()}, positions);
  if (!moves) return std::nullopt;
  for (double& value : *moves) value = std::max(value, 0.0);
  if (!relax(bounds, *moves)) return std::nullopt;
  return moves;
}

void add_doubt(Position& position) {
  constexpr std::string_view doubt =
      "with this alignment, operations would end on one host before they began on another";
  if (position.doubt.find(doubt) == std::string::npos)
    position.doubt.append(position.doubt.empty() ? "" : "; ").append(doubt);
}

/// The clock that most pairs of bounds which no shift can satisfy have in common; the less exact one of several.
std::optional<std::uint32_t> most_contradictory(std::span<const Bound> bounds, std::span<const Position> positions) {
  std::vector<std::size_t> pairs(positions.size());
  for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) {  // the two bounds of a pair follow each other
    if (bounds[i].room + bounds[i + 1].room >= 0) continue;
    for (const std::uint32_t clock : {bounds[i].from, bounds[i].to})
      if (positions[clock].reference != clock) ++pairs[clock];
  }
  std::optional<std::uint32_t> worst;
  const auto badness = [&](std::uint32_t clock) { return std::pair{pairs[clock], positions[clock].error_ns}; };
  for (std::uint32_t clock = 0; clock < positions.size(); ++clock)
    if (pairs[clock] > 0 && (!worst || badness(clock) > badness(*worst))) worst = clock;
  return worst;
}

void drop_bounds_of(std::uint32_t clock, std::vector<Bound>& bounds) {
  std::erase_if(bounds, [clock](const Bound& bound) { return bound.from == clock || bound.to == clock; });
}

bool any_broken(std::span<const Bound> bounds) {
  return std::ranges::any_of(bounds, [](const Bound& bound) { return bound.room < 0; });
}

}  // namespace

void keep_possible(std::span<const Edge> edges, std::vector<Position>& positions) {
  std::vector<Bound> bounds = bounds_of(edges, positions);
  // What a clock says that is doubted already, or contradicts itself, must not keep the others from being moved.
  for (std::uint32_t clock = 0; clock < positions.size(); ++clock)
    if (!positions[clock].doubt.empty()) drop_bounds_of(clock, bounds);
  while (const auto worst = most_contradictory(bounds, positions)) {
    add_doubt(positions[*worst]);
    drop_bounds_of(*worst, bounds);
  }
  if (!any_broken(bounds)) return;
  const std::optional<std::vector<double>> moves = least_moves(bounds, positions);
  for (std::uint32_t clock = 0; clock < positions.size(); ++clock) {
    Position& position = positions[clock];
    if (moves && std::abs((*moves)[clock]) <= position.error_ns) {
      position.map.ahead_fine_ns -= (*moves)[clock] * (1 + position.map.rate);
      continue;
    }
    const auto is_broken = [&](const Bound& bound) {
      return bound.room < 0 && (bound.from == clock || bound.to == clock);
    };
    if (position.reference != clock && std::ranges::any_of(bounds, is_broken)) add_doubt(position);
  }
}

}  // namespace rankscope::analyzer::clocks
