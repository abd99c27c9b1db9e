#include "bandwidth/parts.h"

#include <algorithm>
#include <span>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/noted_table.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_matrix = 8;  // ranks that fit on a page of text

std::string speed(const std::optional<double>& gbps) { return gbps ? speed_text(*gbps) : "–"; }

/// Why some rows have no speed, each reason once; empty if all have one.
std::string reasons(const BandwidthSection& section) {
  std::vector<std::string> unique;
  std::string text;
  for (const BandwidthRow& row : section.rows) {
    if (row.why_none.empty() || std::ranges::find(unique, row.why_none) != unique.end()) continue;
    unique.push_back(row.why_none);
    text += format("{}{}", text.empty() ? "No bandwidth is shown for some rows: " : "; ", printable(row.why_none));
  }
  return text.empty() ? text : text + ".";
}

}  // namespace

Table bandwidth_table(const BandwidthSection& section, std::size_t most) {
  Table table{{{"group", Align::left, 16},
               {"operation", Align::left, 16},
               {"ranks"},
               {"size", Align::left},
               {"count"},
               {"measured"},
               {"algorithm"},
               {"bus"},
               {"with waiting"}},
              {}};
  for (const BandwidthRow& row : std::span{section.rows}.first(std::min(most, section.rows.size())))
    table.rows.push_back({{printable(row.group)},
                          {printable(row.op)},
                          {format("{}", row.group_size)},
                          {size_text(row.size)},
                          {format("{}", row.count)},
                          {format("{}", row.measured)},
                          {speed(row.algbw_gbps)},
                          {speed(row.busbw_gbps)},
                          {speed(row.busbw_with_waiting_gbps)}});
  return table;
}

Table traffic_table(const BandwidthSection& section, std::size_t most) {
  Table table{{{"from"}, {"to"}, {"count"}, {"bytes"}, {"speed"}}, {}};
  for (const TrafficCell& cell : std::span{section.traffic}.first(std::min(most, section.traffic.size())))
    table.rows.push_back({{format("{}", cell.from.value)},
                          {format("{}", cell.to.value)},
                          {format("{}", cell.count)},
                          {cell.without_bytes == cell.count ? "–" : bytes_text(cell.bytes)},
                          {speed(cell.gbps)}});
  return table;
}

Table margin_table(const BandwidthSection& section, std::size_t most) {
  Table table{{{"rank"}, {"sent"}, {"received"}, {"passed to collectives"}}, {}};
  for (const TrafficMargin& margin : std::span{section.margins}.first(std::min(most, section.margins.size())))
    table.rows.push_back({{format("{}", margin.rank.value)},
                          {bytes_text(margin.sent_bytes)},
                          {bytes_text(margin.received_bytes)},
                          {bytes_text(margin.collective_bytes)}});
  return table;
}

std::vector<RankCell> traffic_cells(const BandwidthSection& section) {
  std::vector<RankCell> cells;
  for (const TrafficCell& cell : section.traffic) cells.push_back({cell.from, cell.to, cell.bytes});
  return cells;
}

std::vector<std::string> slow_path_notes(const BandwidthSection& section) {
  std::vector<std::string> notes;
  for (const SlowPath& path : section.slow) {
    std::string note = printable(format("{}: {}.", title_of(path), evidence_of(path)));
    if (note[0] >= 'a' && note[0] <= 'z') note[0] = static_cast<char>(note[0] - 'a' + 'A');
    notes.push_back(std::move(note));
  }
  return notes;
}

std::vector<std::string> bandwidth_notes(const BandwidthSection& section) {
  std::int64_t setting_up = 0;
  std::int64_t too_short_rows = 0;
  for (const BandwidthRow& row : section.rows) {
    setting_up += row.setting_up;
    too_short_rows += row.too_short;
  }
  std::string left_out;
  if (setting_up > 0)
    left_out += format("{} that set up connections ({} the first of its group)", counted(setting_up, "operation"),
                       setting_up == 1 ? "it was" : "each was");
  if (too_short_rows > 0)
    left_out += format("{}{} that moved data for too short a time to be measured", left_out.empty() ? "" : "; ",
                       counted(too_short_rows, "operation"));
  std::vector<std::string> notes{
      "Algorithm: bytes / transfer time. Bus: the same bandwidth, scaled so that different operations and different "
      "numbers of ranks can be compared (as in nccl-tests). With waiting: the bus bandwidth if waiting is counted as "
      "transfer, as in tools that look at only one rank."};
  if (!left_out.empty()) notes.push_back(format("Not included in the bandwidths: {}.", left_out));
  if (std::string why = reasons(section); !why.empty()) notes.push_back(std::move(why));
  return notes;
}

void add_bandwidth(Page& page, const Report& report, const ReportOptions& options) {
  if (!report.bandwidth) return;
  const BandwidthSection& section = *report.bandwidth;
  const bool any = std::ranges::any_of(section.rows, [](const BandwidthRow& row) { return row.measured > 0; });
  if (!any && section.traffic.empty() && options.only.empty()) return;  // COLLECTIVES says why there is none
  page.heading("COMMUNICATION BANDWIDTH", "by size of the operation; 1 GB = 10⁹ bytes");
  if (!section.rows.empty()) {
    page.table(bandwidth_table(section, options.top));
    add_left_out(page, left_out(section.rows.size(), options.top));
    for (const std::string& note : bandwidth_notes(section)) page.paragraph(note, Tone::faint);
  }
  const std::vector<std::string> slow = slow_path_notes(section);
  for (const std::string& note : std::span{slow}.first(std::min(slow.size(), options.top)))
    page.paragraph(note, Tone::warning);
  add_left_out(page, left_out(slow.size(), options.top));
  if (section.traffic.empty()) return;
  page.blank();
  const RankMatrix matrix = rank_matrix(traffic_cells(section), widest_matrix);
  if (report.ranks.size() <= widest_matrix && matrix.left_out == 0) {
    page.paragraph("Bytes sent from rank (rows) to rank (columns):", Tone::faint);
    page.table(table_of(matrix, "from rank", bytes_text));
  } else {
    page.paragraph("Bytes sent from rank to rank, most bytes first:", Tone::faint);
    page.table(traffic_table(section, options.top));
    add_left_out(page, left_out(section.traffic.size(), options.top));
  }
}

}  // namespace rankscope::analyzer
