#include "collectives/asked_for.h"

#include <algorithm>
#include <iterator>

#include "rankscope/core/model/run.h"
#include "steps/parts.h"

namespace rankscope::analyzer {

namespace {

/// The step in which the operation began, on the clock of its own rank; null if it began in none.
const StepWindow* step_of(const StepsSection& steps, const Collective& member) {
  const RunTime begin = member.state == CommState::enqueued ? member.enqueued : member.started;
  const std::span<const StepWindow> windows = windows_of(steps, member.rank);
  const auto later =
      std::ranges::upper_bound(windows, begin, {}, [](const StepWindow& window) { return window.window.begin; });
  return later != windows.begin() && std::prev(later)->window.contains(begin) ? &*std::prev(later) : nullptr;
}

/// The rows of Run::collectives() that lie in the steps asked for. The members of an operation go together: a late one
/// may have begun in its next step.
RowSet rows_in_steps(const Run& run, const CollectivesSection& section, const StepsSection& steps) {
  RowSet rows(run.collectives().size());
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = step_of(steps, run.collectives()[row]) != nullptr;
  for (const Operation& operation : section.operations) {
    const bool first = rows[operation.members.front()];
    for (const std::uint32_t row : operation.members) rows[row] = first;
  }
  return rows;
}

}  // namespace

std::int64_t unknown_in_steps(const Run& run, const Matching& matching, const StepsSection& steps) {
  std::int64_t unknown = 0;
  for (std::size_t row = 0; row < matching.matched.size(); ++row) {
    const Collective& member = run.collectives()[row];
    const bool without_partner = !matching.matched[row] && !matching.alone[row] && is_shared(run, member);
    if (!without_partner && member.state == CommState::finished) continue;
    const StepWindow* const step = step_of(steps, member);
    if (step != nullptr && steps.counted(step->index)) ++unknown;
  }
  return unknown;
}

RowSet rows_asked_for(const Run& run, const CollectivesSection& section, const Section<StepsSection>& steps,
                      const ReportOptions& options) {
  RowSet rows(run.collectives().size(), true);
  if (options.steps && steps) rows = rows_in_steps(run, section, *steps);
  if (options.ranks.empty()) return rows;
  for (std::size_t row = 0; row < rows.size(); ++row)
    rows[row] = rows[row] && is_asked_for(options, run.collectives()[row].rank);
  return rows;
}

Section<CollectivesSection> collectives_asked_for(const Run& run, const ClockTrust& clocks, const Matching& matching,
                                                  const Section<StepsSection>& steps, const ReportOptions& options) {
  if (!matching.section || (!options.steps && options.ranks.empty())) return matching.section;
  if (options.steps && !steps) return unavailable(steps.error().why);
  return select_members(run, clocks, matching, rows_asked_for(run, *matching.section, steps, options));
}

}  // namespace rankscope::analyzer
