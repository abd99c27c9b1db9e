#include "render/idle.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "render/words.h"
#include "units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_range = 36;
constexpr std::size_t widest_call = 24;

/// Sums over ranks and steps, and of how many of both.
struct Reasons {
  std::vector<IdleShare> shares;
  std::int64_t total_ns = 0;
  std::int64_t ranks = 0;
  std::int64_t steps = 1;  ///< of all ranks together
};

Reasons reasons_of(const Report& report) {
  Reasons reasons;
  if (!report.rank_rows) return reasons;
  std::int64_t steps = 0;
  for (const RankRow& row : *report.rank_rows) {
    if (row.idle_shares.empty()) continue;
    reasons.shares.insert(reasons.shares.end(), row.idle_shares.begin(), row.idle_shares.end());
    reasons.total_ns += row.total.idle_ns;
    steps += static_cast<std::int64_t>(row.per_step.size());
    ++reasons.ranks;
  }
  reasons.shares = by_reason(std::move(reasons.shares));
  reasons.steps = std::max<std::int64_t>(1, steps > 0 ? steps : reasons.ranks);
  return reasons;
}

std::string where_of(const IdleShare& share) {
  if (!share.range.empty()) return printable(share.range);
  return share.cause == IdleCause::host || share.cause == IdleCause::sync ? "between operators" : "";
}

std::vector<Cell> row_of(std::string_view why, std::string_view where, std::string_view call, std::int64_t ns,
                         const Reasons& reasons) {
  const auto share = reasons.total_ns > 0 ? static_cast<double>(ns) / static_cast<double>(reasons.total_ns) : 0;
  return {{std::string{why}},
          {std::string{where}},
          {std::string{call}},
          {format("{:.2f}", static_cast<double>(ns) / 1e6 / static_cast<double>(reasons.steps))},
          {format("{:.1f} %", 100 * share)}};
}

}  // namespace

std::string_view words_of(const IdleShare& share) {
  switch (share.detail) {
    case IdleDetail::launching:
      return "launch under way";
    case IdleDetail::nothing_followed:
      return share.cause == IdleCause::data ? "host waited for data" : "nothing was launched any more";
    case IdleDetail::waits_for_event:
      return "waited for another stream";
    case IdleDetail::profiler_overhead:
      return "profiler held it up";
    case IdleDetail::no_launch_record:
      return "launch was not recorded";
    case IdleDetail::none:
      break;
  }
  switch (share.cause) {
    case IdleCause::host:
      return "host was late";
    case IdleCause::sync:
      return "host waited for the device";
    case IdleCause::data:
      return "host waited for data";
    case IdleCause::kernel_gap:
      return "gap between kernels";
    case IdleCause::other:
      return "queued, but began late";
  }
  return "";
}

void add_idle_reasons(Page& page, const Report& report, const ReportOptions& options) {
  const Reasons reasons = reasons_of(report);
  if (reasons.total_ns == 0) return;
  const bool per_step = report.steps.has_value();
  page.heading("WHY NOTHING RAN", format("mean per {} of {} with an accelerator", per_step ? "step and rank" : "rank",
                                         counted(reasons.ranks, "rank")));
  Table table{{{"why", Align::left},
               {"operator or range of the host", Align::left, widest_range},
               {"in the call", Align::left, widest_call},
               {"ms"},
               {"of idle"}},
              {}};
  std::int64_t rest = reasons.total_ns;
  std::size_t shown = 0;
  for (; shown < std::min(options.top, reasons.shares.size()); ++shown) {
    const IdleShare& share = reasons.shares[shown];
    rest -= share.ns;
    table.rows.push_back(row_of(words_of(share), where_of(share), printable(share.call), share.ns, reasons));
  }
  if (shown < reasons.shares.size())
    table.rows.push_back(row_of(format("{} more", reasons.shares.size() - shown), "", "", rest, reasons));
  page.table(table);
  if (std::ranges::find(reasons.shares, IdleCause::sync, &IdleShare::cause) != reasons.shares.end())
    page.paragraph("Part of what a synchronization takes may be late launches anyway.", Tone::faint);
}

}  // namespace rankscope::analyzer
