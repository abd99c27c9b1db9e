#include "rankscope/gui/models/report/lateness.h"

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/median.h"

namespace rankscope::gui {
namespace {

/// Without lags.
void add_row(Lateness& lateness, const analyzer::RankRow& row, const std::vector<analyzer::StepWindow>& windows) {
  const std::size_t first = lateness.cells.size();
  lateness.ranks.push_back(row.rank);
  lateness.cells.resize(first + lateness.steps.size());
  auto split = row.per_step.begin();  // of the counted steps that the rank has, in their order
  for (const analyzer::StepWindow& step : windows) {
    if (step.rank != row.rank || split == row.per_step.end()) continue;
    const auto place = std::ranges::lower_bound(lateness.steps, step.index, {}, &analyzer::Step::index);
    if (place == lateness.steps.end() || place->index != step.index) continue;
    const auto column = static_cast<std::size_t>(place - lateness.steps.begin());
    lateness.cells[first + column] = LatenessCell{.window = step.window, .own_ns = split->own_ns()};
    ++split;
  }
}

void compare_step(Lateness& lateness, std::size_t step) {
  std::vector<LatenessCell*> column;
  for (std::size_t rank = 0; rank < lateness.ranks.size(); ++rank)
    if (auto& cell = lateness.cells[rank * lateness.steps.size() + step]) column.push_back(&*cell);
  if (column.empty()) return;
  lateness.compares = lateness.compares || column.size() > 1;
  std::vector<std::int64_t> own;
  for (const LatenessCell* const cell : column) own.push_back(cell->own_ns);
  const std::int64_t middle = median(own);
  for (LatenessCell* const cell : column) cell->lag_ns = cell->own_ns - middle;
}

}  // namespace

std::optional<float> Lateness::share_of(std::size_t rank_row, std::size_t step_row) const {
  const auto& here = cell(rank_row, step_row);
  if (!here) return std::nullopt;
  return static_cast<float>(static_cast<double>(here->lag_ns) / static_cast<double>(median_step_ns));
}

std::optional<float> Lateness::mean_share(RankId rank) const {
  const auto found = std::ranges::find(ranks, rank);
  if (empty() || found == ranks.end()) return std::nullopt;
  float sum = 0;
  int count = 0;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const auto share = share_of(static_cast<std::size_t>(found - ranks.begin()), step);
    if (!share) continue;
    sum += *share;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional{sum / static_cast<float>(count)};
}

Lateness lateness_of(const analyzer::Report& report) {
  Lateness lateness;
  if (!report.steps || !report.rank_rows || report.steps->median_ns <= 0) return lateness;
  lateness.median_step_ns = report.steps->median_ns;
  for (const analyzer::Step& step : report.steps->steps)
    if (report.steps->counted(step.index)) lateness.steps.push_back(step);
  for (const analyzer::RankRow& row : *report.rank_rows) add_row(lateness, row, report.steps->windows);
  for (std::size_t step = 0; step < lateness.steps.size(); ++step) compare_step(lateness, step);
  return lateness;
}

}  // namespace rankscope::gui
