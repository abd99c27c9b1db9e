#include "trend/parts.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "math/statistics.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "steps/find.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t near = 5;  // steps; two methods find one begin
constexpr double one_level = 1.03;

bool explained_by_straggler(const Report& report, const StepChange& change) {
  return report.stragglers && std::ranges::any_of(report.stragglers->rows, [&](const Straggler& row) {
           return row.since_step && std::abs(*row.since_step - change.step) <= near;
         });
}

/// What steps usually took before a change: not what they took in a short fast stretch before it.
std::int64_t usual_before(const StepsSection& steps, const StepChange& change) {
  std::vector<std::int64_t> walls;
  for (const Step& step : steps.steps)
    if (step.index < change.step && steps.counted(step.index)) walls.push_back(step.wall_ns);
  return walls.empty() ? change.before_ns : std::max(change.before_ns, median(walls));
}

/// "109 ms before"; the growth of ranks is measured from the stretch that ends with the change, so that it is named.
std::string before_text(std::int64_t usual_ns, std::int64_t stretch_ns) {
  if (static_cast<double>(usual_ns) < one_level * static_cast<double>(stretch_ns))
    return format("{} before", duration_text(usual_ns));
  return format("{} before, but {} just before the change", duration_text(usual_ns), duration_text(stretch_ns));
}

FindingSeverity one_worse(FindingSeverity severity) {
  return severity == FindingSeverity::critical
             ? severity
             : FindingSeverity{static_cast<std::uint8_t>(static_cast<int>(severity) + 1)};
}

/// The earliest change to longer steps that no later one undoes: changes part of the way back undo nothing. Null: none.
const StepChange* lasting_slow_down(const Report& report) {
  const std::vector<StepChange>& changes = report.trend->changes;
  const StepChange* found = nullptr;
  std::int64_t lowest_after = changes.back().after_ns;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    lowest_after = std::min(lowest_after, change->after_ns);
    const auto usual_ns = static_cast<double>(usual_before(*report.steps, *change));
    const double longer = static_cast<double>(lowest_after) / usual_ns - 1;
    if (severity_of(longer, change_limits) == FindingSeverity::info || explained_by_straggler(report, *change))
      continue;
    found = &*change;
  }
  return found;
}

/// What the steps from a change on take longer than is usual before it, per counted step of the run.
std::int64_t lost_per_step(const Report& report, const StepChange& since, std::int64_t usual_ns) {
  const std::vector<std::int64_t> counted = counted_steps(*report.steps);
  const auto from = [&](std::int64_t step) { return counted.end() - std::ranges::lower_bound(counted, step); };
  std::int64_t lost_ns = 0;
  for (const StepChange& change : report.trend->changes) {
    if (change.step < since.step) continue;
    const auto* const next = &change == &report.trend->changes.back() ? nullptr : &change + 1;
    lost_ns += (change.after_ns - usual_ns) * (from(change.step) - (next != nullptr ? from(next->step) : 0));
  }
  return lost_ns / static_cast<std::int64_t>(counted.size());
}

bool is_explained_by(const StragglersSection& section, const OddStep& odd) {
  const auto explains = [&](RankId rank) {
    return std::ranges::any_of(section.rows, [&](const Straggler& row) {
      return row.rank == rank && (!row.since_step || odd.step >= *row.since_step - near) &&
             (!row.until_step || odd.step <= *row.until_step + near);
    });
  };
  return !odd.ranks.empty() &&
         std::ranges::all_of(odd.ranks, [&](const GrownPart& part) { return explains(part.rank); });
}

/// What the host did while nothing ran in an odd step, where that is half of its excess: "; in it 36.4 ms inside
/// cudaMemcpyAsync in aten::copy_".
std::string odd_idle_text(const Report& report, const OddStep& odd) {
  const IdleShare* most = nullptr;
  if (!report.rank_rows) return {};
  for (const RankRow& row : *report.rank_rows)
    for (const IdleShare& share : row.idle_shares)
      if (share.most_in_step == odd.step && 2 * share.most_ns >= odd.excess_ns &&
          (most == nullptr || share.most_ns > most->most_ns))
        most = &share;
  if (most == nullptr || (most->call.empty() && most->range.empty())) return {};
  const std::string where = most->call.empty()    ? most->range
                            : most->range.empty() ? most->call
                                                  : format("{} in {}", most->call, most->range);
  return format("; nothing ran for {} of this step while the host was in {}", duration_text(most->most_ns), where);
}

/// The rank that alone takes longer in each of several odd steps.
std::optional<RankId> only_rank_of(std::span<const OddStep> odd) {
  if (odd.size() < 2 || odd.front().ranks.empty()) return std::nullopt;
  const RankId rank = odd.front().ranks.front().rank;
  const auto alone = [rank](const OddStep& step) { return step.ranks.size() == 1 && step.ranks.front().rank == rank; };
  return std::ranges::all_of(odd, alone) ? std::optional{rank} : std::nullopt;
}

}  // namespace

/// metrics.md 9.5 and 20. A slow rank that became slow at the same step explains it already.
void judge_step_change(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (!report.trend || report.trend->changes.empty()) return;
  const StepChange* const change = lasting_slow_down(report);
  if (change == nullptr) return;
  const std::int64_t last_ns = report.trend->changes.back().after_ns;
  const std::int64_t usual_ns = usual_before(*report.steps, *change);
  const double ratio = static_cast<double>(last_ns) / static_cast<double>(usual_ns);
  Finding finding;
  finding.id = "step_time.change";
  finding.gain_ns_per_step = lost_per_step(report, *change, usual_ns);
  finding.severity = capped(severity_of(ratio - 1, change_limits),
                            one_worse(severity_of(report.steps->share_of_step(finding.gain_ns_per_step), gain_limits)));
  finding.step = change->step;
  const double at_first = static_cast<double>(change->after_ns) / static_cast<double>(usual_ns);
  const bool partly_undone = at_first >= one_level * ratio;
  finding.title = partly_undone
                      ? format(
                            "from step {} on, steps take {:.2f} times as long as before; at the end, still {:.2f} "
                            "times",
                            change->step, at_first, ratio)
                      : format("from step {} on, steps take {:.2f} times as long as before", change->step, ratio);
  finding.evidence =
      format("steps took {}, {}{} {}; {}", before_text(usual_ns, change->before_ns),
             partly_undone ? format("{} since then, ", duration_text(change->after_ns)) : "", duration_text(last_ns),
             change == &report.trend->changes.back() ? "since then" : "at the end",
             grown_text(change->ranks, change->why_no_ranks));
  finding.advice =
      "Look at what begins at that step: evaluation, checkpoints, a new phase of the data, lower clock rates, other "
      "jobs on the hosts.";
  findings.push_back(std::move(finding));
}

/// What the odd steps together cost. A rank that stalls has a finding of its own.
void judge_odd_steps(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (!report.trend || report.trend->odd_steps.empty()) return;
  std::vector<OddStep> odd = report.trend->odd_steps;
  if (report.stragglers)
    std::erase_if(odd, [&](const OddStep& step) { return is_explained_by(*report.stragglers, step); });
  if (odd.empty()) return;
  std::int64_t excess = 0;
  for (const OddStep& step : odd) excess += step.excess_ns;
  Finding finding;
  finding.id = "step_time.odd";
  finding.gain_ns_per_step = excess / static_cast<std::int64_t>(counted_steps(*report.steps).size());
  finding.severity = severity_of(report.steps->share_of_step(finding.gain_ns_per_step), gain_limits);
  if (finding.severity == FindingSeverity::info) return;
  const OddStep& worst = *std::ranges::max_element(odd, {}, &OddStep::excess_ns);
  finding.step = worst.step;
  finding.rank = only_rank_of(odd);
  finding.title = format(
      "{}{} much longer than {} neighbours", finding.rank ? format("rank {}: ", finding.rank->value) : "",
      odd.size() == 1 ? "one step takes" : format("{} steps take", odd.size()), odd.size() == 1 ? "its" : "their");
  finding.evidence = format(
      "{}{}{}", odd.size() == 1 ? "" : format("these steps cost {} in total; the longest: ", duration_text(excess)),
      odd_text(worst), odd_idle_text(report, worst));
  finding.advice =
      "Look at these steps in the timeline: checkpoints, evaluation, garbage collection, a stalled loader or link.";
  findings.push_back(std::move(finding));
}

}  // namespace rankscope::analyzer
