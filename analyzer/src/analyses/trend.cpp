#include "analyses/trend.h"

#include <algorithm>

#include "analyses/change_points.h"
#include "analyses/statistics.h"
#include "analyses/straggler_kind.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

constexpr double least_growth = 0.05;  // of a rank's own time at a change
constexpr double odd_sigmas = 3.5;     // metrics.md 9.4, as for stalls
constexpr double odd_share = 0.10;
constexpr double half = 0.5;
constexpr std::size_t few_steps_for_trend = 5;

/// Counted steps first .. last - 1, by position.
struct Stretch {
  std::size_t first = 0;
  std::size_t last = 0;
};

std::vector<Stretch> stretches(std::span<const std::size_t> begins, std::size_t steps) {
  std::vector<Stretch> all{{0, steps}};
  for (const std::size_t begin : begins) {
    all.back().last = begin;
    all.push_back({begin, steps});
  }
  return all;
}

std::int64_t median_over(const Stretch& part, auto value) {
  std::vector<std::int64_t> values;
  for (std::size_t i = part.first; i < part.last; ++i) values.push_back(value(i));
  return median(values);
}

std::int64_t own_time(const RankRow& row, const Stretch& part) {
  return median_over(part, [&](std::size_t i) { return row.per_step[i].own_ns(); });
}

/// The component that changed most the way own time did.
StragglerKind kind_of_change(const RankRow& row, const Stretch& before, const Stretch& after, std::int64_t way) {
  std::size_t most = 0;
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < component_count; ++i) {
    const auto component = static_cast<Component>(i);
    const auto part_in = [&](const Stretch& part) {
      return median_over(part, [&](std::size_t step) { return part_of(row.per_step[step], component); });
    };
    const std::int64_t change = (part_in(after) - part_in(before)) * way;
    if (change > largest) largest = change, most = i;
  }
  return largest > 0 ? kind_of(static_cast<Component>(most)) : StragglerKind::mixed;
}

StepChange change_between(std::span<const std::int64_t> indices, std::span<const std::int64_t> walls,
                          std::span<const RankRow> rows, const Stretch& before, const Stretch& after) {
  const auto wall = [&](std::size_t i) { return walls[i]; };
  StepChange change{.step = indices[after.first],
                    .before_ns = median_over(before, wall),
                    .after_ns = median_over(after, wall),
                    .lasts = after.last == walls.size()};
  const std::int64_t way = change.after_ns >= change.before_ns ? 1 : -1;
  for (const RankRow& row : rows) {
    const GrownPart part{row.rank, kind_of_change(row, before, after, way), own_time(row, before),
                         own_time(row, after)};
    const auto difference = static_cast<double>((part.after_ns - part.before_ns) * way);
    if (difference >= least_growth * static_cast<double>(part.before_ns) && difference > 0)
      change.ranks.push_back(part);
  }
  return change;
}

OddStep odd_step(std::size_t step, std::int64_t index, std::int64_t wall_ns, std::int64_t usual_ns,
                 std::span<const RankRow> rows, const Stretch& around) {
  OddStep odd{.step = index, .wall_ns = wall_ns, .excess_ns = wall_ns - usual_ns};
  const Stretch alone{step, step + 1};
  for (const RankRow& row : rows) {
    const GrownPart part{row.rank, kind_of_change(row, around, alone, 1), own_time(row, around), own_time(row, alone)};
    if (static_cast<double>(part.after_ns - part.before_ns) >= half * static_cast<double>(odd.excess_ns))
      odd.ranks.push_back(part);
  }
  return odd;
}

void add_odd_steps(std::span<const std::int64_t> indices, std::span<const std::int64_t> walls,
                   std::span<const RankRow> rows, const Stretch& part, TrendSection& section) {
  const auto own = walls.subspan(part.first, part.last - part.first);
  const std::int64_t usual = median(own);
  const double limit = std::max(odd_sigmas * robust_sigma(own), odd_share * static_cast<double>(usual));
  for (std::size_t i = part.first; i < part.last; ++i)
    if (static_cast<double>(walls[i] - usual) > limit)
      section.odd_steps.push_back(odd_step(i, indices[i], walls[i], usual, rows, part));
}

}  // namespace

Section<TrendSection> find_trend(const Section<StepsSection>& steps, const Section<std::vector<RankRow>>& rows) {
  if (!steps) return unavailable("it needs steps");
  if (!rows) return unavailable(rows.error().why);
  const std::vector<std::int64_t> indices = counted_steps(*steps);
  if (indices.size() < few_steps_for_trend)
    return unavailable(format("{}, and {} are needed", counted(indices.size(), "counted step"), few_steps_for_trend));
  std::vector<std::int64_t> walls;
  for (const Step& step : steps->steps)
    if (steps->counted(step.index)) walls.push_back(step.wall_ns);
  TrendSection section;
  if (walls.size() < least_for_changes)
    section.no_changes_told =
        format("{}: changes are looked for from {} on", counted(walls.size(), "step"), least_for_changes);
  const std::vector<std::size_t> begins = change_points(walls);
  const std::vector<Stretch> parts = stretches(begins, walls.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) section.changes.push_back(change_between(indices, walls, *rows, parts[i - 1], parts[i]));
    add_odd_steps(indices, walls, *rows, parts[i], section);
  }
  return section;
}

}  // namespace rankscope::analyzer
