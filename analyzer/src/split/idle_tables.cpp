#include "split/parts.h"

#include <algorithm>
#include <span>
#include <utility>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"
#include "split/row_sums.h"
#include "steps/counted_windows.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_range = 36;
constexpr std::size_t widest_call = 24;

/// Sums over ranks and steps.
struct Reasons {
  std::vector<IdleShare> shares;
  std::int64_t total_ns = 0;
  std::int64_t before_work_ns = 0;
  std::int64_t after_work_ns = 0;
  Means means;
  bool any_range = false;  ///< some operator or annotation is known
};

Reasons reasons_of(const Report& report) {
  Reasons reasons;
  if (!report.rank_rows) return reasons;
  for (const RankRow* of_rank : rows_to_sum(*report.rank_rows)) {
    const RankRow& row = *of_rank;
    if (row.idle_shares.empty()) continue;
    reasons.shares.insert(reasons.shares.end(), row.idle_shares.begin(), row.idle_shares.end());
    reasons.total_ns += row.total.idle_ns;
    reasons.before_work_ns += row.before_work_ns;
    reasons.after_work_ns += row.after_work_ns;
    reasons.means.rank_steps += static_cast<std::int64_t>(row.per_step.size());
    ++reasons.means.ranks;
  }
  reasons.shares = by_reason(std::move(reasons.shares));
  reasons.any_range = std::ranges::any_of(reasons.shares, [](const IdleShare& share) { return !share.range.empty(); });
  return reasons;
}

std::string where_of(const IdleShare& share, const Reasons& reasons) {
  if (!share.range.empty()) return printable(share.range);
  if (share.cause != IdleCause::host && share.cause != IdleCause::sync) return "";
  return reasons.any_range ? "between operators" : "no operators recorded";
}

std::vector<Cell> row_of(std::string_view why, std::string_view where, std::string_view call, std::int64_t ns,
                         const Reasons& reasons) {
  return {{std::string{why}},
          {std::string{where}},
          {std::string{call}},
          {reasons.means.ms(ns)},
          {share_text(ns, reasons.total_ns)}};
}

std::string legend(const Reasons& reasons) {
  const auto any = [&reasons](auto matches) { return std::ranges::any_of(reasons.shares, matches); };
  const auto is_late = [](const IdleShare& share) {
    return share.cause == IdleCause::host && share.detail == IdleDetail::none;
  };
  std::string text;
  const auto add = [&text](std::string_view sentence) { text.append(text.empty() ? "" : " ").append(sentence); };
  if (any(is_late))
    add("Host was late: the next work was launched only after the device had run out of work, although nothing held "
        "the host up.");
  if (any([](const IdleShare& share) { return share.cause == IdleCause::sync; }))
    add("Host waited for the device: part of this time may be due to late launches instead.");
  if (any([](const IdleShare& share) { return share.cause == IdleCause::other && share.detail == IdleDetail::none; }))
    add("Queued: the work was launched in time, but no record shows what it waited for.");
  if (reasons.before_work_ns > 0 || reasons.after_work_ns > 0) {
    const auto mean = [&reasons](std::int64_t ns) { return duration_text(ns / reasons.means.parts()); };
    add(format("The idle time includes {} before the first device work and {} after the last.",
               mean(reasons.before_work_ns), mean(reasons.after_work_ns)));
  }
  return text;
}

}  // namespace

std::vector<NotedTable> idle_tables(const Report& report, std::size_t most) {
  const Reasons reasons = reasons_of(report);
  if (reasons.total_ns == 0) return {};
  NotedTable noted;
  noted.title = "Why nothing ran";
  noted.what = reasons.means.words();
  noted.left_out = left_out(reasons.shares.size(), most);
  noted.table.columns = {{"why", Align::left},
                         {"operator or range of the host", Align::left, widest_range},
                         {"in the call", Align::left, widest_call},
                         {"ms"},
                         {"of idle"}};
  std::int64_t rest = reasons.total_ns;
  for (const IdleShare& share : std::span{reasons.shares}.first(reasons.shares.size() - noted.left_out.rows)) {
    rest -= share.ns;
    noted.table.rows.push_back(
        row_of(words_of(share), where_of(share, reasons), printable(share.call), share.ns, reasons));
  }
  if (noted.left_out.rows > 0)
    noted.table.rows.push_back(
        row_of(format("rest ({})", counted(noted.left_out.rows, "reason")), "", "", rest, reasons));
  if (std::string note = legend(reasons); !note.empty()) noted.notes.push_back(std::move(note));
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
