#include "tables/sources.h"

#include <algorithm>

#include "rankscope/analyzer/select.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {

RowFilter::RowFilter(const TableChoice& choice, const StepsSection* section)
    : ranks_(choice.ranks), steps_(choice.steps) {
  std::ranges::sort(ranks_);
  if (!steps_ || section == nullptr) return;
  for (const StepWindow& step : section->windows) {
    if (!keeps_step(step.index)) continue;
    const auto [entry, added] = time_.try_emplace(step.rank, step.window);
    entry->second.begin = std::min(entry->second.begin, step.window.begin);
    entry->second.end = std::max(entry->second.end, step.window.end);
  }
}

bool RowFilter::keeps(RankId rank) const { return ranks_.empty() || std::ranges::binary_search(ranks_, rank); }

bool RowFilter::keeps(RankId rank, TimeRange time) const {
  if (all()) return true;
  if (!keeps(rank)) return false;
  if (!steps_) return true;
  const auto found = time_.find(rank);
  if (found == time_.end()) return false;
  const TimeRange& window = found->second;
  return time.begin < window.end && (time.end > window.begin || (time.empty() && time.begin == window.begin));
}

bool RowFilter::keeps_step(std::int64_t index) const {
  return !steps_ || (index >= steps_->first && index <= steps_->second);
}

const Matching& TableSources::matching() {
  if (!matching_) matching_ = match_collectives(run_, ClockTrust{run_});
  return *matching_;
}

const std::vector<std::optional<std::int64_t>>& TableSources::operation_of_rows() {
  if (operation_of_rows_) return *operation_of_rows_;
  operation_of_rows_.emplace(run_.collectives().size());
  if (const auto& section = matching().section)
    for (std::size_t row = 0; row < section->operations.size(); ++row)
      for (const std::uint32_t member : section->operations[row].members)
        (*operation_of_rows_)[member] = static_cast<std::int64_t>(row);
  return *operation_of_rows_;
}

const StepsResult& TableSources::steps() {
  if (!steps_) steps_ = find_steps(run_, ClockTrust{run_}, {});
  return *steps_;
}

const Report& TableSources::whole_report() {
  if (!whole_report_) whole_report_ = std::make_unique<Report>(analyze(run_, {}));
  return *whole_report_;
}

const Report& TableSources::report() {
  if (filter_.all()) return whole_report();
  if (!chosen_report_) chosen_report_ = std::make_unique<Report>(analyze(run_, chosen_));
  return *chosen_report_;
}

Result<void> TableSources::choose(const TableChoice& choice) {
  RS_TRY_VOID(check_ranks(run_, choice.ranks, "ranks"));
  if (choice.steps) {
    const auto& section = steps().section;
    if (!section)
      return fail(ErrorKind::not_computable, format("steps: this recording has no steps: {}", section.error().why));
    const auto is_chosen = [&](const Step& step) {
      return step.index >= choice.steps->first && step.index <= choice.steps->second;
    };
    if (std::ranges::none_of(section->steps, is_chosen))
      return fail(ErrorKind::usage,
                  format("steps: the recording does not have {}; its steps are {} to {}",
                         step_range_text(*choice.steps), section->steps.front().index, section->steps.back().index));
  }
  const bool as_before = chosen_.steps == choice.steps && chosen_.ranks == choice.ranks;
  if (!as_before) chosen_report_.reset();
  chosen_.steps = choice.steps;
  chosen_.ranks = choice.ranks;
  filter_ = RowFilter{choice, choice.steps ? &*steps().section : nullptr};
  return {};
}

}  // namespace rankscope::analyzer
