#include "split/row_sums.h"

#include <algorithm>

#include "steps/parts.h"

namespace rankscope::analyzer {

std::vector<const RankRow*> rows_to_sum(std::span<const RankRow> rows) {
  return asked_rows_to_sum(rows, ReportOptions{});
}

std::vector<const RankRow*> asked_rows_to_sum(std::span<const RankRow> rows, const ReportOptions& options) {
  std::vector<const RankRow*> chosen;
  for (const RankRow& row : rows)
    if (is_asked_for(options, row.rank)) chosen.push_back(&row);
  const auto has_none = [](const RankRow* row) { return row->per_step.empty(); };
  if (!std::ranges::all_of(chosen, has_none)) std::erase_if(chosen, has_none);
  return chosen;
}

Usual sum_ranks(const Section<std::vector<RankRow>>& rows, const ReportOptions& options,
                std::span<const RankId> left_out) {
  Usual usual;
  if (!rows) return usual;
  for (const RankRow* of_rank : asked_rows_to_sum(*rows, options)) {
    const RankRow& row = *of_rank;
    if (std::ranges::find(left_out, row.rank) != left_out.end()) continue;
    usual.rows.push_back(of_rank);
    usual.total += row.total;
    usual.idle_shares.insert(usual.idle_shares.end(), row.idle_shares.begin(), row.idle_shares.end());
    usual.steps += static_cast<std::int64_t>(row.per_step.size());
    usual.on_accelerators = usual.on_accelerators && row.device != "cpu";
    usual.before_work_ns += row.before_work_ns;
    usual.after_work_ns += row.after_work_ns;
    ++usual.ranks;
  }
  usual.idle_shares = by_reason(std::move(usual.idle_shares));
  return usual;
}

}  // namespace rankscope::analyzer
