#include "split/parts.h"

#include <algorithm>
#include <array>

#include "math/statistics.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/noted_table.h"
#include "render/words.h"
#include "split/communication.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t bar_width = 24;

std::array<std::int64_t, 4> parts_of(const TimeSplit& split) {
  return {split.compute_ns, split.exposed_comm_ns, split.memory_ns, split.idle_ns};
}

/// Hundredths of a millisecond per step, rounded.
std::int64_t centi_ms(std::int64_t total_ns, std::int64_t steps) {
  return (total_ns + steps * 5'000) / (steps * 10'000);
}

std::string ms_text(std::int64_t total_ns, std::int64_t steps) { return decimal(centi_ms(total_ns, steps), 2); }

std::string bar(const TimeSplit& split) {
  constexpr std::array<std::string_view, 4> blocks{"█", "▓", "▒", "░"};
  const auto lengths = apportioned(parts_of(split), bar_width);
  std::string text;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::int64_t n = 0; n < lengths[i]; ++n) text += blocks[i];
  }
  return text;
}

bool is_doubtful(const RankRows& rows) {
  return std::ranges::any_of(rows, [](const RankRow* row) { return !row->why_no_comm.empty(); });
}

/// The heading of compute: of runs without collectives waiting may be part of it.
std::string compute_heading(const RankRows& rows) { return is_doubtful(rows) ? "compute or wait" : "compute"; }

/// Of the ranks that are not shown, too.
std::vector<std::int64_t> own_times_of_all(const Report& report) {
  std::vector<std::int64_t> times;
  for (const auto* rows : {&*report.rank_rows, &report.asked_for.rows_left_out})
    for (const auto& row : *rows) times.push_back(row.total.own_ns());
  return times;
}

}  // namespace

std::int64_t steps_in(const RankRow& row) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(row.per_step.size()));
}

std::string without_steps_text(const Report& report) {
  std::vector<RankId> without;
  if (report.rank_rows)
    for (const RankRow& row : *report.rank_rows)
      if (row.per_step.empty()) without.push_back(row.rank);
  if (without.empty() || without.size() == report.rank_rows->size()) return {};
  return format(
      "No steps were recorded on {}, whose numbers therefore cover the whole recording and are left out of sums over "
      "ranks.",
      ranks_text(without));
}

std::string compute_doubt_text(const RankRows& rows) {
  if (!is_doubtful(rows)) return {};
  return sentence(
      format("{}: compute and idle time may include waiting for other ranks", cause_alone(rows.front()->why_no_comm)));
}

std::int64_t steps_of(const std::vector<const RankRow*>& rows) {
  std::size_t most = 0;
  for (const RankRow* row : rows) most = std::max(most, row->per_step.size());
  return static_cast<std::int64_t>(most);
}

RankRows rows_to_show(const Report& report, std::size_t limit) {
  RankRows rows;
  for (const auto& row : *report.rank_rows) rows.push_back(&row);
  if (rows.size() <= limit) return rows;
  const auto usual_ns = median(own_times_of_all(report));
  const auto is_straggler = [&](const RankRow* row) {
    return report.stragglers &&
           std::ranges::find(report.stragglers->rows, row->rank, &Straggler::rank) != report.stragglers->rows.end();
  };
  std::ranges::stable_sort(rows, {}, [&](const RankRow* row) {
    return std::pair{!is_straggler(row), -std::llabs(row->total.own_ns() - usual_ns)};
  });
  rows.resize(limit);
  std::ranges::sort(rows, {}, &RankRow::rank);
  return rows;
}

std::string shown_rows_text(std::size_t shown, std::size_t all) {
  return format("{} of {} ranks (slow ranks, and those whose own times differ most from the median)", shown, all);
}

Table share_table(const RankRows& rows) {
  Table table{{{"rank"}, {"device", Align::left, 21}, {"ms"}, {compute_heading(rows)}, {"comm"}, {"copies"}, {"idle"}},
              {}};
  for (const auto* row : rows) {
    const auto shares = apportioned(parts_of(row->total), 1000);
    const auto share = [&](std::size_t i) { return decimal(shares[i], 1) + " %"; };
    table.rows.push_back({{format("{}", row->rank.value)},
                          {printable(row->device)},
                          {ms_text(row->total.window_ns, steps_in(*row))},
                          {share(0), Tone::compute},
                          {row->shows_communication() ? share(1) : std::string{empty_cell}, Tone::comm},
                          {share(2), Tone::memory},
                          {share(3)}});
  }
  return table;
}

namespace {

/// Behind the shares of a rank the same as a bar.
Table with_bars(Table table, const RankRows& rows) {
  table.columns.push_back({"", Align::left});
  for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].push_back({bar(rows[i]->total)});
  return table;
}

}  // namespace

Table detail_table(const RankRows& rows) {
  Table table{{{"rank"},
               {compute_heading(rows)},
               {"all comm"},
               {"hidden"},
               {"waiting"},
               {"transfer"},
               {"unknown"},
               {"idle"},
               {"host"},
               {"sync"},
               {"data"},
               {"gaps"},
               {"other"}},
              {}};
  for (const auto* row : rows) {
    const auto& split = row->total;
    const auto steps = steps_in(*row);
    const auto comm = centi_ms(split.comm_ns, steps);
    const auto idle = centi_ms(split.idle_ns, steps);
    const auto uses = apportioned(std::array{split.wait_ns, split.transfer_ns, split.unsplit_ns}, comm);
    const auto causes = apportioned(split.idle_causes_ns, idle);
    const auto known = [&](std::string text) {
      return Cell{row->shows_communication() ? std::move(text) : std::string{empty_cell}};
    };
    std::vector<Cell> cells{{format("{}", row->rank.value)},
                            {ms_text(split.compute_ns, steps)},
                            known(decimal(comm, 2)),
                            known(ms_text(split.overlapped_comm_ns, steps))};
    for (const auto use : uses) cells.push_back(known(decimal(use, 2)));
    cells.push_back({decimal(idle, 2)});
    for (const auto cause : causes) cells.push_back({decimal(cause, 2)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

namespace {

void add_shares(Page& page, const RankRows& rows) {
  const std::int64_t steps = steps_of(rows);
  const auto span = steps > 0 ? format("mean of {}", counted(steps, "step")) : "whole recording";
  page.heading("WHERE THE TIME WENT", span + "; comm = communication that no computation hides");
  page.table(with_bars(share_table(rows), rows));
  page.paragraph(format("█ {}  ▓ comm  ▒ copies  ░ idle", compute_heading(rows)), Tone::faint);
  if (const std::string doubt = compute_doubt_text(rows); !doubt.empty()) page.paragraph(doubt, Tone::warning);
}

void add_ranks_left_out(Page& page, const Report& report, const RankRows& rows) {
  if (const std::string note = without_steps_text(report); !note.empty()) page.paragraph(note);
  if (rows.size() < report.rank_rows->size()) {
    page.paragraph(format("Shown: {}; --top {} shows all.", shown_rows_text(rows.size(), report.rank_rows->size()),
                          report.rank_rows->size()));
  }
}

}  // namespace

void add_rank_tables(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.rank_rows || report.rank_rows->empty()) return;
  const auto rows = rows_to_show(report, std::max<std::size_t>(16, options.top));
  add_shares(page, rows);
  page.blank();
  page.paragraph(format("Milliseconds{}: all comm = waiting + transfer + unknown, hidden behind compute or not; "
                        "idle = host + sync + data + gaps + other.",
                        steps_of(rows) > 0 ? " per step" : ""),
                 Tone::faint);
  page.table(detail_table(rows));
  add_ranks_left_out(page, report, rows);
}

void add_rank_bars(Page& page, const Report& report, const ReportOptions&, std::size_t) {
  if (!report.rank_rows || report.rank_rows->empty()) return;
  constexpr std::size_t most_bars = 8;
  const auto rows = rows_to_show(report, most_bars);
  add_shares(page, rows);
  add_ranks_left_out(page, report, rows);
}

}  // namespace rankscope::analyzer
