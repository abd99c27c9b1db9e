#include "rules/rule.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "steps/counted_windows.h"

namespace rankscope::analyzer {

Usual sum_ranks(const Report& report, const ReportOptions& options, Whom whom, std::span<const RankId> left_out) {
  Usual usual;
  if (!report.rank_rows) return usual;
  for (const RankRow* of_rank : asked_rows_to_sum(*report.rank_rows, options)) {
    const RankRow& row = *of_rank;
    const bool slow = report.stragglers && std::ranges::find(report.stragglers->rows, row.rank, &Straggler::rank) !=
                                               report.stragglers->rows.end();
    if (slow && whom == Whom::all_but_stragglers) continue;
    if (std::ranges::find(left_out, row.rank) != left_out.end()) continue;
    usual.total += row.total;
    usual.idle_shares.insert(usual.idle_shares.end(), row.idle_shares.begin(), row.idle_shares.end());
    usual.steps += static_cast<std::int64_t>(row.per_step.size());
    usual.on_accelerators = usual.on_accelerators && row.device != "cpu";
    ++usual.ranks;
  }
  usual.idle_shares = by_reason(std::move(usual.idle_shares));
  return usual;
}

Usual all_but_named(const RuleContext& context, std::span<const Finding> findings, std::string_view id) {
  std::vector<RankId> named;
  for (const Finding& finding : findings)
    if (finding.id == id && finding.rank) named.push_back(*finding.rank);
  if (named.empty()) return context.all_but_stragglers;
  return sum_ranks(context.report, context.options, Whom::all_but_stragglers, named);
}

std::string percent_of(double share) { return format("{:.0f} %", share * 100); }

}  // namespace rankscope::analyzer
