#include "rankscope/gui/models/lateness.h"

#include <algorithm>
#include <numeric>

namespace rankscope::gui {

std::optional<float> Lateness::mean_share(RankId rank) const {
  const auto found = std::ranges::find(ranks, rank);
  if (found == ranks.end() || steps.empty()) return std::nullopt;
  const auto first = share.begin() + (found - ranks.begin()) * static_cast<std::ptrdiff_t>(steps.size());
  return std::accumulate(first, first + static_cast<std::ptrdiff_t>(steps.size()), 0.0F) /
         static_cast<float>(steps.size());
}

Lateness lateness_of(const analyzer::Report& report) {
  Lateness lateness;
  if (!report.steps || !report.rank_rows || report.rank_rows->size() < 2) return lateness;
  for (const analyzer::Step& step : report.steps->steps)
    if (report.steps->counted(step.index)) lateness.steps.push_back(step);
  const std::size_t steps = lateness.steps.size();
  std::vector<const analyzer::RankRow*> rows;
  for (const analyzer::RankRow& row : *report.rank_rows)
    if (row.per_step.size() == steps) rows.push_back(&row);
  if (rows.size() < 2 || steps == 0) return {};
  for (const analyzer::RankRow* row : rows) lateness.ranks.push_back(row->rank);
  lateness.lag_ns.resize(rows.size() * steps);
  lateness.share.resize(rows.size() * steps);
  std::vector<std::int64_t> own(rows.size());
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t rank = 0; rank < rows.size(); ++rank) own[rank] = rows[rank]->per_step[step].own_ns();
    auto sorted = own;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
    std::ranges::nth_element(sorted, middle);
    const auto wall = static_cast<float>(std::max<std::int64_t>(1, lateness.steps[step].wall_ns));
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
      const std::int64_t lag = own[rank] - *middle;
      lateness.lag_ns[rank * steps + step] = lag;
      lateness.share[rank * steps + step] = static_cast<float>(lag) / wall;
    }
  }
  return lateness;
}

}  // namespace rankscope::gui
