#include "compare/lost_steps.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "compare/loss_words.h"
#include "compare/losses.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "steps/find.h"
#include "steps/parts.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

using Indices = std::vector<std::int64_t>;

/// Ascending, each once.
Indices sorted_indices(std::span<const StepWindow> windows) {
  Indices indices;
  for (const StepWindow& window : windows) indices.push_back(window.index);
  std::ranges::sort(indices);
  const auto again = std::ranges::unique(indices);
  indices.erase(again.begin(), again.end());
  return indices;
}

Indices difference(const Indices& all, const Indices& own) {
  Indices rest;
  std::ranges::set_difference(all, own, std::back_inserter(rest));
  return rest;
}

/// The steps of a range that are not among these.
StepRanges gaps_in(StepRange range, const Indices& steps) {
  StepRanges gaps;
  std::int64_t next = range.first;
  for (const std::int64_t step : steps) {
    if (step < next || step > range.second) continue;
    if (step > next) gaps.emplace_back(next, step - 1);
    next = step + 1;
  }
  if (next <= range.second) gaps.emplace_back(next, range.second);
  return gaps;
}

/// True if the recorder was told to store only a part of the process's time: then it stops on each rank by itself.
bool was_recorded_in_part(const Run& run, RankId rank) {
  static constexpr std::array<std::string_view, 3> keys{"window", "stopped_by", "toggle"};
  return std::ranges::any_of(keys, [&](std::string_view key) {
    const auto& own = run.process_of(rank).metadata;
    return std::ranges::any_of(own, [&](const auto& entry) { return run.text(entry.first) == key; });
  });
}

Indices missing_on(const Run& run, RankId rank, const Indices& all, const Indices& own) {
  Indices missing = difference(all, own);
  if (was_recorded_in_part(run, rank))
    std::erase_if(missing, [&](std::int64_t index) { return index < own.front() || index > own.back(); });
  return missing;
}

/// Ranks that lack the same steps have one sentence.
void add_uneven_steps(const Run& run, const StepsSection& steps, const Indices& all, std::vector<Loss>& losses) {
  std::map<Indices, std::vector<RankId>> ranks_by_steps;
  for (const RankId rank : run.ranks()) {
    const Indices own = sorted_indices(windows_of(steps, rank));
    if (own.empty()) continue;  // a matter of both runs: lost_against()
    if (Indices missing = missing_on(run, rank, all, own); !missing.empty())
      ranks_by_steps[std::move(missing)].push_back(rank);
  }
  for (const auto& [missing, ranks] : ranks_by_steps)
    losses.push_back(
        {"steps_missing",
         format("{} {} {} ({}) that other ranks have", ranks_text(ranks), ranks.size() == 1 ? "lacks" : "lack",
                counted(missing.size(), "step"), step_list(ranges_of(missing))),
         LossReach::compared});
}

/// The steps that the reference trainer was to make, as far as they were asked for; nothing for other programs.
std::optional<StepRange> planned_steps(const Run& run, const ReportOptions& options) {
  const auto number = [&](std::string_view key) { return number_from<std::int64_t>(run.metadata(key), {.least = 0}); };
  const auto count = number("steps");
  if (run.metadata("role") != "trainer" || !count) return std::nullopt;
  StepRange planned{number("resumed_at_step").value_or(0), *count - 1};
  if (options.steps)
    planned = {std::max(planned.first, options.steps->first), std::min(planned.second, options.steps->second)};
  return planned.first <= planned.second ? std::optional{planned} : std::nullopt;
}

/// Steps that were thinned out on request have sums and are not lost.
void add_steps_not_made(const Run& run, const Report& report, const ReportOptions& options, const Indices& all,
                        std::vector<Loss>& losses) {
  const auto ranks = run.ranks();
  if (std::ranges::any_of(ranks, [&](RankId rank) { return was_recorded_in_part(run, rank); })) return;
  auto planned = planned_steps(run, options);
  if (planned && report.thinned) planned->first = std::max(planned->first, report.thinned->first_full_step);
  const StepRanges missing = planned ? gaps_in(*planned, all) : StepRanges{};
  if (missing.empty()) return;
  losses.push_back({"steps_missing",
                    format("{} of the {} that the trainer was told to run {} not recorded ({})", count_of(missing),
                           counted(planned->second - planned->first + 1, "step"),
                           count_of(missing) == 1 ? "was" : "were", step_list(missing)),
                    LossReach::compared});
}

std::vector<RankId> ranks_with_marks(const Section<StepsSection>& steps) {
  std::vector<RankId> ranks;
  if (!steps) return ranks;
  for (const StepWindow& window : steps->windows)
    if (ranks.empty() || ranks.back() != window.rank) ranks.push_back(window.rank);
  return ranks;
}

/// Ranks whose steps only the other run has.
void add_ranks_without_steps(const RunDigest& run, const RunDigest& other, std::vector<Loss>& losses) {
  const std::vector<RankId> own = ranks_with_marks(run.report.steps);
  std::map<LossReach, std::vector<RankId>> without;
  for (const RankId rank : ranks_with_marks(other.report.steps)) {
    const auto is = [rank](const std::vector<RankId>& ranks) { return std::ranges::find(ranks, rank) != ranks.end(); };
    if (!is(run.report.ranks) || is(own)) continue;
    without[is(run.ranks) ? LossReach::compared : LossReach::elsewhere].push_back(rank);
  }
  for (const auto& [reach, ranks] : without)
    losses.push_back({"steps_missing",
                      format("{} {} no steps, but {} steps in {}", ranks_text(ranks),
                             ranks.size() == 1 ? "has" : "have", ranks.size() == 1 ? "has" : "have", other.name.label),
                      reach});
}

Indices recorded_steps(const RunDigest& run) {
  Indices indices;
  if (run.report.steps)
    for (const Step& step : run.report.steps->steps) indices.push_back(step.index);
  return indices;
}

/// Steps asked for by their numbers; an open range ends where each run ends.
void add_steps_asked_for(const RunDigest& run, const RunDigest& other, std::vector<Loss>& losses) {
  if (!run.steps_asked_for || run.steps_asked_for->second == to_the_end || !run.report.steps) return;
  const Indices missing = difference(recorded_steps(other), recorded_steps(run));
  if (missing.empty()) return;
  losses.push_back({"steps_missing",
                    format("{} of the selected steps ({}) {} missing on at least one rank, but {} has {}",
                           missing.size(), step_list(ranges_of(missing)), missing.size() == 1 ? "is" : "are",
                           other.name.label, missing.size() == 1 ? "this step" : "these steps"),
                    LossReach::compared});
}

}  // namespace

void add_lost_steps(const Run& run, const Report& report, const ReportOptions& options, std::vector<Loss>& losses) {
  if (!report.steps) return;
  const Indices all = sorted_indices(report.steps->windows);
  add_uneven_steps(run, *report.steps, all, losses);
  add_steps_not_made(run, report, options, all, losses);
}

std::vector<Loss> lost_against(const RunDigest& run, const RunDigest& other) {
  std::vector<Loss> losses;
  add_ranks_without_steps(run, other, losses);
  add_steps_asked_for(run, other, losses);
  return losses;
}

}  // namespace rankscope::analyzer
