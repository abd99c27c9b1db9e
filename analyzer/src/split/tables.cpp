#include "split/tables.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "math/statistics.h"
#include "stragglers/words.h"
#include "rankscope/core/format.h"
#include "render/noted_table.h"
#include "verdict/sentences.h"
#include "verdict/verdict.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t bar_width = 24;
constexpr std::string_view none = "–";

std::array<std::int64_t, 4> parts_of(const TimeSplit& split) {
  return {split.compute_ns, split.exposed_comm_ns, split.memory_ns, split.idle_ns};
}

/// Steps over which a rank's total was summed; 1 where there are none and the total is the whole recording.
std::int64_t steps_in(const RankRow& row) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(row.per_step.size()));
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

/// Of the ranks that are not shown, too.
std::vector<std::int64_t> own_times_of_all(const Report& report) {
  std::vector<std::int64_t> times;
  for (const auto* rows : {&*report.rank_rows, &report.asked_for.rows_left_out})
    for (const auto& row : *rows) times.push_back(row.total.own_ns());
  return times;
}

}  // namespace

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

Table share_table(const RankRows& rows) {
  Table table{{{"rank"}, {"device", Align::left, 16}, {"ms"}, {"compute"}, {"comm"}, {"copies"}, {"idle"}}, {}};
  for (const auto* row : rows) {
    const auto shares = apportioned(parts_of(row->total), 1000);
    const auto share = [&](std::size_t i) { return decimal(shares[i], 1) + " %"; };
    table.rows.push_back({{format("{}", row->rank.value)},
                          {printable(row->device)},
                          {ms_text(row->total.window_ns, steps_in(*row))},
                          {share(0), Tone::compute},
                          {share(1), Tone::comm},
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

std::string ending_text(const RankFacts& facts) {
  switch (facts.ending) {
    case Ending::unknown:
      return std::string{none};
    case Ending::exited:
      return facts.exit_status == 0 ? "normally" : format("with status {}", facts.exit_status);
    case Ending::vanished:
      return "killed, crashed or _exit";
  }
  return {};
}

bool ended_badly(const RankFacts& facts) {
  return facts.ending == Ending::vanished || (facts.ending == Ending::exited && facts.exit_status != 0);
}

}  // namespace

Table facts_table(const std::vector<RankFacts>& ranks, std::size_t limit) {
  Table table{{{"rank"},
               {"host", Align::left, 24},
               {"program", Align::left, 24},
               {"ended", Align::left},
               {"CPU"},
               {"peak memory"}},
              {}};
  for (const auto& facts : ranks) {
    if (table.rows.size() == limit) break;
    table.rows.push_back({{format("{}", facts.rank.value)},
                          {printable(facts.host)},
                          {printable(facts.program)},
                          {ending_text(facts), ended_badly(facts) ? Tone::bad : Tone::plain},
                          {facts.cpu_percent ? format("{:.0f} %", *facts.cpu_percent) : std::string{none}},
                          {facts.peak_rss_bytes ? bytes_text(*facts.peak_rss_bytes) : std::string{none}}});
  }
  return table;
}

Table detail_table(const RankRows& rows) {
  Table table{{{"rank"},
               {"compute"},
               {"all comm"},
               {"hidden"},
               {"waiting"},
               {"moving"},
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
    std::vector<Cell> cells{{format("{}", row->rank.value)},
                            {ms_text(split.compute_ns, steps)},
                            {decimal(comm, 2)},
                            {ms_text(split.overlapped_comm_ns, steps)}};
    for (const auto use : uses) cells.push_back({decimal(use, 2)});
    cells.push_back({decimal(idle, 2)});
    for (const auto cause : causes) cells.push_back({decimal(cause, 2)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table collective_table(const std::vector<GroupRow>& groups, std::size_t limit) {
  Table table{{{"group", Align::left, 16},
               {"operation", Align::left, 16},
               {"count"},
               {"bytes"},
               {"waiting"},
               {"moving data"},
               {"bus bandwidth"}},
              {}};
  for (const auto& group : groups) {
    if (table.rows.size() == limit) break;
    table.rows.push_back(
        {{printable(group.group)},
         {printable(group.op)},
         {format("{}", group.count)},
         {group.bytes < 0 ? std::string{none} : bytes_text(group.bytes)},
         {group.without_wait == group.count ? std::string{none} : duration_text(group.wait_ns)},
         {group.without_transfer == group.count ? std::string{none} : duration_text(group.transfer_ns)},
         {group.busbw_gbps ? format("{:.3g} GB/s", *group.busbw_gbps) : std::string{none}}});
  }
  return table;
}

namespace {

/// "No bandwidth where: too short; bytes not recorded."; empty without reasons.
std::string none_where(std::string_view what, std::span<const std::string> reasons) {
  std::vector<std::string> told;  // each once
  for (const auto& reason : reasons)
    if (!reason.empty() && std::ranges::find(told, printable(reason)) == told.end()) told.push_back(printable(reason));
  std::string note;
  for (const auto& reason : told) note += (note.empty() ? format("No {} where: ", what) : "; ") + reason;
  return note.empty() ? note : note + ".";
}

}  // namespace

std::string unknown_note(const std::vector<GroupRow>& groups) {
  std::vector<std::string> times;
  std::vector<std::string> bandwidths;
  for (const auto& group : groups) {
    if (group.without_wait == group.count) times.push_back(group.why_no_wait);
    if (group.without_transfer == group.count) times.push_back(group.why_no_transfer);
    if (!group.busbw_gbps) bandwidths.push_back(group.why_no_busbw);
  }
  std::string note = none_where("waiting or moving", times);
  const std::string bandwidth = none_where("bandwidth", bandwidths);
  if (!note.empty() && !bandwidth.empty()) note += ' ';
  return note + bandwidth;
}

std::string matching_note(const CollectivesSection& section) {
  const auto all = section.matched + section.unmatched;
  return format("Matched by {}: {} of {} members found their partners.", printable(section.key), section.matched, all);
}

std::vector<std::string> unmatched_notes(const CollectivesSection& section) {
  constexpr std::size_t most = 4;
  std::vector<std::string> notes;
  for (const UnmatchedParts& parts : section.unmatched_parts) {
    if (notes.size() == most) {
      notes.push_back(format("{} more reasons or operations without partners are in the JSON report.",
                             section.unmatched_parts.size() - most));
      break;
    }
    notes.push_back(format("Without partner: {} {} of {}, the first on rank {} at {:.3f} s: {}.", parts.count,
                           printable(parts.op), printable(parts.group), parts.rank.value,
                           static_cast<double>(ns_of(parts.first)) / 1e9, parts.why));
  }
  return notes;
}

std::string steps_source(const StepsSection& steps) {
  const auto complete = std::ranges::count_if(steps.steps, &Step::complete);
  const auto warm_up = std::ranges::count_if(steps.steps, &Step::warm_up);
  return format("Steps from {}; {} complete, {} partial, {} warm-up left out.", printable(steps.source), complete,
                static_cast<std::int64_t>(steps.steps.size()) - complete, warm_up);
}

void add_rank_facts(Page& page, const Report& report, const ReportOptions& options) {
  if (report.rank_facts.empty()) return;
  const auto limit = std::max<std::size_t>(16, options.top);
  page.heading("RANKS", "CPU = median of the samples, 100 % is one core");
  page.table(facts_table(report.rank_facts, limit));
  add_left_out(page, left_out(report.rank_facts.size(), limit));
}

void add_rank_tables(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.rank_rows || report.rank_rows->empty()) return;
  const auto rows = rows_to_show(report, std::max<std::size_t>(16, options.top));
  const std::int64_t steps = steps_of(rows);
  const auto span = steps > 0 ? format("mean of {}", counted(steps, "step")) : "whole recording";
  page.heading("WHERE THE TIME WENT", span + "; comm = communication that no computation hides");
  page.table(with_bars(share_table(rows), rows));
  page.paragraph("█ compute  ▓ comm  ▒ copies  ░ idle", Tone::faint);
  page.blank();
  page.paragraph(format("Milliseconds{}: all comm = waiting + moving + unknown, partly hidden behind compute; "
                        "idle = host + sync + data + gaps + other.",
                        steps > 0 ? " per step" : ""),
                 Tone::faint);
  page.table(detail_table(rows));
  if (const std::string note = without_steps_text(report); !note.empty()) page.paragraph(note);
  if (rows.size() < report.rank_rows->size()) {
    page.paragraph(format("{} of {} ranks, those farthest from the others; --top {} shows all.", rows.size(),
                          report.rank_rows->size(), report.rank_rows->size()));
  }
}

void add_collectives(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.collectives) return;
  const auto& section = *report.collectives;
  page.heading("COLLECTIVES", "sums; waiting = of all ranks, for the last one; moving data = until the median end");
  if (section.groups.empty()) {
    page.paragraph("None was recorded.");
    return;
  }
  const auto limit = std::max<std::size_t>(16, options.top);
  page.table(collective_table(section.groups, limit));
  add_left_out(page, left_out(section.groups.size(), limit));
  page.paragraph(matching_note(section) + " Waiting counts the lateness of the last rank, whatever made it late.",
                 Tone::faint);
  for (const std::string& note : unmatched_notes(section)) page.paragraph(note, Tone::faint);
  if (const auto note = unknown_note(section.groups); !note.empty()) page.paragraph(note, Tone::faint);
}

namespace {

std::string certainty_text(Certainty certainty) {
  switch (certainty) {
    case Certainty::fact:
      return "fact";
    case Certainty::of_two:
      return "slower of two";
    case Certainty::of_three:
      return "slowest of three";
    case Certainty::few_steps:
      return "few steps";
  }
  return {};
}

}  // namespace

Table straggler_table(const StragglersSection& section) {
  Table table{{{"rank"},
               {"kind", Align::left},
               {"when", Align::left},
               {"slowdown"},
               {"behind per step"},
               {"severity", Align::left},
               {"certainty", Align::left}},
              {}};
  for (const auto& row : section.rows) {
    table.rows.push_back({{format("{}", row.rank.value), Tone::heading},
                          {std::string{name_of(row.kind)}},
                          {when_text(row).empty() ? "all the time" : when_text(row)},
                          {format("{:.2f} x", row.slowdown)},
                          {duration_text(row.lag_ns_per_step)},
                          {std::string{name_of(row.severity)}},
                          {certainty_text(row.certainty)}});
  }
  return table;
}

}  // namespace rankscope::analyzer
