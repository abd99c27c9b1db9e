#include "trend/parts.h"

#include <algorithm>
#include <array>
#include <optional>

#include "math/change_points.h"
#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "stragglers/kind.h"

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

/// Own time of a rank, and its components: medians over a stretch.
struct Level {
  std::int64_t own_ns = 0;
  std::array<std::int64_t, component_count> parts_ns{};
};

Level level_of(const RankRow& row, const Stretch& part) {
  Level level{median_over(part, [&](std::size_t i) { return row.per_step[i].own_ns(); })};
  for (std::size_t component = 0; component < component_count; ++component)
    level.parts_ns[component] =
        median_over(part, [&](std::size_t i) { return part_of(row.per_step[i], static_cast<Component>(component)); });
  return level;
}

/// By rank: asked for once per stretch, since a long run has many odd steps.
std::vector<Level> levels_of(std::span<const RankRow* const> rows, const Stretch& part) {
  std::vector<Level> levels;
  for (const RankRow* row : rows) levels.push_back(level_of(*row, part));
  return levels;
}

/// Those with a window in each counted step. A rank without step marks has none, and nothing can be said of its steps.
std::vector<const RankRow*> with_all_steps(std::span<const RankRow> rows, std::size_t steps) {
  std::vector<const RankRow*> all;
  for (const RankRow& row : rows)
    if (row.per_step.size() == steps) all.push_back(&row);
  return all;
}

/// The component that changed most the way own time did.
StragglerKind kind_of_change(const Level& before, const Level& after, std::int64_t way) {
  std::size_t most = 0;
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < component_count; ++i) {
    const std::int64_t change = (after.parts_ns[i] - before.parts_ns[i]) * way;
    if (change > largest) largest = change, most = i;
  }
  return largest > 0 ? kind_of(static_cast<Component>(most)) : StragglerKind::mixed;
}

GrownPart grown(RankId rank, const Level& before, const Level& after, std::int64_t way) {
  return {rank, kind_of_change(before, after, way), before.own_ns, after.own_ns};
}

/// A stretch with what is usual in it.
struct Part {
  Stretch steps;
  std::int64_t wall_ns = 0;   ///< median
  std::vector<Level> levels;  ///< by rank
};

StepChange change_between(const Part& before, const Part& after, std::span<const RankRow* const> rows,
                          std::int64_t step) {
  StepChange change{.step = step, .before_ns = before.wall_ns, .after_ns = after.wall_ns};
  const std::int64_t way = change.after_ns >= change.before_ns ? 1 : -1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const GrownPart part = grown(rows[i]->rank, before.levels[i], after.levels[i], way);
    const auto difference = static_cast<double>((part.after_ns - part.before_ns) * way);
    if (difference >= least_growth * static_cast<double>(part.before_ns) && difference > 0)
      change.ranks.push_back(part);
  }
  return change;
}

void add_odd_steps(std::span<const std::int64_t> indices, std::span<const std::int64_t> walls,
                   std::span<const RankRow* const> rows, const Part& part, TrendSection& section) {
  const auto own = walls.subspan(part.steps.first, part.steps.last - part.steps.first);
  const double limit = std::max(odd_sigmas * robust_sigma(own), odd_share * static_cast<double>(part.wall_ns));
  for (std::size_t step = part.steps.first; step < part.steps.last; ++step) {
    const std::int64_t excess = walls[step] - part.wall_ns;
    if (static_cast<double>(excess) <= limit) continue;
    OddStep odd{.step = indices[step], .wall_ns = walls[step], .excess_ns = excess};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const GrownPart grew = grown(rows[i]->rank, part.levels[i], level_of(*rows[i], {step, step + 1}), 1);
      if (static_cast<double>(grew.after_ns - grew.before_ns) >= half * static_cast<double>(excess))
        odd.ranks.push_back(grew);
    }
    section.odd_steps.push_back(std::move(odd));
  }
}

/// What is not waiting for data may be waiting for others, on all ranks at once (metrics.md 2.9).
template <class Row>
void leave_out_doubtful(const std::string& why, std::vector<Row>& found) {
  for (Row& row : found) {
    std::erase_if(row.ranks, [](const GrownPart& part) { return part.kind != StragglerKind::data; });
    if (row.ranks.empty()) row.why_no_ranks = why;
  }
}

}  // namespace

Section<TrendSection> find_trend(const Section<StepsSection>& steps, const Section<std::vector<RankRow>>& rows) {
  if (!steps) return unavailable("changes over the steps cannot be found without steps");
  if (!rows) return unavailable(rows.error().why);
  const std::vector<std::int64_t> indices = counted_steps(*steps);
  if (indices.size() < few_steps_for_trend)
    return unavailable(
        format("only {}, but {} are needed", counted(indices.size(), "counted step"), few_steps_for_trend));
  std::vector<std::int64_t> walls;
  for (const Step& step : steps->steps)
    if (steps->counted(step.index)) walls.push_back(step.wall_ns);
  const std::vector<const RankRow*> own = with_all_steps(*rows, walls.size());
  TrendSection section;
  if (walls.size() < least_for_changes)
    section.why_no_changes =
        format("{}: too few to look for changes ({} are needed)", counted(walls.size(), "step"), least_for_changes);
  const std::vector<std::size_t> begins = change_points(walls);
  std::optional<Part> before;
  for (const Stretch& stretch : stretches(begins, walls.size())) {
    Part part{stretch, median(std::span{walls}.subspan(stretch.first, stretch.last - stretch.first)),
              levels_of(own, stretch)};
    if (before) section.changes.push_back(change_between(*before, part, own, indices[stretch.first]));
    add_odd_steps(indices, walls, own, part, section);
    before = std::move(part);
  }
  if (!section.changes.empty()) section.changes.back().lasts = true;
  if (!rows->empty() && !rows->front().why_no_comm.empty()) {
    leave_out_doubtful(rows->front().why_no_comm, section.changes);
    leave_out_doubtful(rows->front().why_no_comm, section.odd_steps);
  }
  return section;
}

}  // namespace rankscope::analyzer
