#include "blame/parts.h"

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/noted_table.h"
#include "render/words.h"
#include "split/row_sums.h"
#include "steps/counted_windows.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_delays = 8;  // ranks that fit on a page of text

/// Sums of all ranks are shown per step.
Means per_step(const BlameSection& section) { return {1, section.ranks > 0 ? section.rank_steps / section.ranks : 0}; }

std::int64_t not_known(const BlameRow& row) { return row.of(DelayPart::unmatched) + row.of(DelayPart::unexplained); }

/// "dp allreduce 98.2 %, tp allgather 1.8 %"
std::string main_groups(const BlameSection& section) {
  constexpr std::size_t most = 3;
  std::string text;
  for (const BlameGroup& group : std::span{section.groups}.first(std::min(most, section.groups.size())))
    text += format("{}{} {} {}", text.empty() ? "" : ", ", printable(group.group), printable(group.op),
                   share_text(group.ns, section.total_ns));
  return text;
}

}  // namespace

std::string_view words_of(DelayPart part) {
  switch (part) {
    case DelayPart::compute:
      return "compute";
    case DelayPart::host:
      return "host";
    case DelayPart::data:
      return "data";
    case DelayPart::memory:
      return "copies";
    case DelayPart::network:
      return "network";
    case DelayPart::unmatched:
      return "unmatched communication";
    case DelayPart::unexplained:
      return "unexplained";
  }
  return "?";
}

double waiting_share(const BlameSection& section) {
  return section.window_ns > 0 ? static_cast<double>(section.total_ns) / static_cast<double>(section.window_ns) : 0;
}

Table blame_table(const BlameSection& section, std::size_t most) {
  const Means means = per_step(section);
  Table table{{{"rank"},
               {"cost"},
               {"share"},
               {"passed on"},
               {"compute"},
               {"host"},
               {"data"},
               {"copies"},
               {"network"},
               {"not known"},
               {"waited itself"}},
              {}};
  for (const BlameRow& row : std::span{section.rows}.first(std::min(most, section.rows.size()))) {
    std::vector<Cell> cells{{format("{}", row.rank.value)},
                            {means.ms(row.cost_ns())},
                            {share_text(row.cost_ns(), section.total_ns)},
                            {means.ms(row.cost_ns() - row.direct())}};
    for (const DelayPart part :
         {DelayPart::compute, DelayPart::host, DelayPart::data, DelayPart::memory, DelayPart::network})
      cells.push_back({means.ms(row.of(part))});
    cells.push_back({means.ms(not_known(row))});
    cells.push_back({means.ms(row.waited_ns)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table blame_group_table(const BlameSection& section, std::size_t most) {
  const Means means = per_step(section);
  Table table{{{"group", Align::left, 24},
               {"operation", Align::left, 24},
               {"count"},
               {"ms"},
               {"share"},
               {"with slack"},
               {"waited mostly for"},
               {"share of that rank"}},
              {}};
  for (const BlameGroup& group : std::span{section.groups}.first(std::min(most, section.groups.size())))
    table.rows.push_back({{printable(group.group)},
                          {printable(group.op)},
                          {means.count(group.count)},
                          {means.ms(group.ns)},
                          {share_text(group.ns, section.total_ns)},
                          {section.with_slack_ns ? share_text(group.with_slack_ns, group.ns) : "–"},
                          {group.most_waited_for.is_set() ? format("rank {}", group.most_waited_for.value) : "–"},
                          {share_text(group.most_waited_for_ns, group.ns)}});
  return table;
}

std::vector<RankCell> waiting_cells(const BlameSection& section) {
  const std::int64_t steps = per_step(section).parts();
  std::vector<RankCell> cells;
  for (const WaitingPair& pair : section.pairs) cells.push_back({pair.waiting, pair.last_to_arrive, pair.ns / steps});
  return cells;
}

std::string blame_explanation(const BlameSection& section) {
  return format("ms{} of waiting that no computation hides, summed over the ranks",
                section.rank_steps > 0 ? " per step" : "");
}

std::vector<std::string> blame_notes(const BlameSection& section) {
  std::vector<std::string> notes;
  if (!section.groups.empty())
    notes.push_back(format("{} of the ranks' time is waiting that no computation hides. The largest shares of it: {}.",
                           percent_text(waiting_share(section)), main_groups(section)));
  notes.emplace_back(
      "Cost: waiting charged to the rank where the delay began. Passed on: the part of the cost that came through "
      "ranks that were late only because they had waited themselves. Fixing a rank saves at most its cost.");
  if (section.unknown_ns > 0)
    notes.push_back(
        format("{} of the waiting cannot be charged to a rank: the clocks do not show which rank was later, or it "
               "occurred in operations whose other members were not recorded.",
               share_text(section.unknown_ns, section.total_ns)));
  if (section.partial_ns > 0)
    notes.push_back(format(
        "Another {} was spent in operations whose other members were not recorded: part of this time may be waiting "
        "for these members.",
        duration_text(section.partial_ns)));
  if (section.with_slack_ns && *section.with_slack_ns > 0)
    notes.push_back(
        format("{} of the waiting is in operations with slack, which could have ended later without making a step "
               "longer. At present, this part of the waiting costs nothing.",
               share_text(*section.with_slack_ns, section.total_ns)));
  if (section.method != "run time")
    notes.emplace_back(
        "If clocks cannot be compared, the rank with the shortest call is treated as the last to arrive.");
  return notes;
}

/// "Hardly any" only where it can be told.
std::string little_waiting_text(const Report& report) {
  const BlameSection& section = *report.blame;
  std::int64_t unsplit = 0;
  if (report.rank_rows)
    for (const RankRow* row : rows_to_sum(*report.rank_rows))
      unsplit += row->total.exposed_comm_ns - row->total.exposed_wait_ns - row->total.exposed_transfer_ns;
  const std::int64_t unknown = unsplit + section.partial_ns;
  const double share =
      section.window_ns > 0 ? static_cast<double>(unknown) / static_cast<double>(section.window_ns) : 0;
  if (share < little_waiting)
    return format("The ranks hardly wait for each other: waiting takes {} of their time.",
                  percent_text(waiting_share(section)));
  return format(
      "Known waiting is {} of the ranks' time. Another {} may be waiting: it could not be separated from transfer, or "
      "it was spent in operations with ranks that were not recorded.",
      percent_text(waiting_share(section)), percent_text(share));
}

std::optional<Unavailable> absence_of_blame(const Report& report) {
  if (report.blame) return std::nullopt;
  return Unavailable{report.blame.error().why, report.ranks.size() < 2 ? Missed::no : Missed::yes};
}

void add_blame(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.blame) return;
  const BlameSection& section = *report.blame;
  page.heading("WHO MADE OTHERS WAIT", blame_explanation(section));
  if (waiting_share(section) < little_waiting) {
    page.paragraph(little_waiting_text(report));
    return;
  }
  page.table(blame_table(section, options.top));
  add_left_out(page, left_out(section.rows.size(), options.top));
  for (const std::string& note : blame_notes(section)) page.paragraph(note, Tone::faint);
  const std::vector<RankCell> cells = waiting_cells(section);
  if (report.ranks.size() > widest_delays || cells.empty()) return;
  page.blank();
  page.paragraph("Who waited (rows) for whom (columns) directly:", Tone::faint);
  page.table(table_of(rank_matrix(cells, widest_delays), "waiting rank", duration_text));
}

}  // namespace rankscope::analyzer
