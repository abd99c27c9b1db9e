#include "render/idle.h"

#include <algorithm>
#include <utility>

#include "analyses/idle_words.h"
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
  bool any_range = false;  ///< some operator or annotation is known
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
  reasons.any_range = std::ranges::any_of(reasons.shares, [](const IdleShare& share) { return !share.range.empty(); });
  reasons.steps = std::max<std::int64_t>(1, steps > 0 ? steps : reasons.ranks);
  return reasons;
}

std::string where_of(const IdleShare& share, const Reasons& reasons) {
  if (!share.range.empty()) return printable(share.range);
  if (share.cause != IdleCause::host && share.cause != IdleCause::sync) return "";
  return reasons.any_range ? "between operators" : "no operators recorded";
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

std::string legend(const Reasons& reasons) {
  const auto any = [&reasons](auto matches) { return std::ranges::any_of(reasons.shares, matches); };
  std::string text =
      "Late: the next work was launched only after the device had run dry; meanwhile the host was there.";
  if (any([](const IdleShare& share) { return share.cause == IdleCause::sync; }))
    text += " Part of what a synchronization takes may be late launches anyway.";
  if (any([](const IdleShare& share) { return share.cause == IdleCause::other && share.detail == IdleDetail::none; }))
    text += " Queued: launched in time, and no record says what it waited for.";
  return text;
}

}  // namespace

std::vector<NotedTable> idle_tables(const Report& report, std::size_t most) {
  const Reasons reasons = reasons_of(report);
  if (reasons.total_ns == 0) return {};
  NotedTable noted;
  noted.title = "Why nothing ran";
  noted.what = report.steps && reasons.ranks > 1 ? "mean per step and rank"
               : report.steps                    ? "mean per step"
               : reasons.ranks > 1               ? "mean per rank"
                                                 : "";
  noted.table.columns = {{"why", Align::left},
                         {"operator or range of the host", Align::left, widest_range},
                         {"in the call", Align::left, widest_call},
                         {"ms"},
                         {"of idle"}};
  std::int64_t rest = reasons.total_ns;
  std::size_t shown = 0;
  for (; shown < std::min(most, reasons.shares.size()); ++shown) {
    const IdleShare& share = reasons.shares[shown];
    rest -= share.ns;
    noted.table.rows.push_back(
        row_of(words_of(share), where_of(share, reasons), printable(share.call), share.ns, reasons));
  }
  if (shown < reasons.shares.size())
    noted.table.rows.push_back(row_of(format("{} more", reasons.shares.size() - shown), "", "", rest, reasons));
  noted.notes.push_back(legend(reasons));
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
