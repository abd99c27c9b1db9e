#include "overlap/parts.h"

#include <algorithm>
#include <span>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_overlapped = 40;
constexpr std::size_t most_overlap_ranks = 14;

NotedTable by_operation(const OverlapSection& section, std::size_t most) {
  const Means means{static_cast<std::int64_t>(section.ranks.size()), section.rank_steps};
  NotedTable noted{"Overlap of communication with compute", means.words(),
                   Table{{{"group", Align::left, 16},
                          {"operation", Align::left, widest_overlapped},
                          {"count"},
                          {"ms"},
                          {"hidden ms"},
                          {"exposed ms"},
                          {"hidden"}},
                         {}},
                   left_out(section.rows.size(), most)};
  for (const OverlapRow& row : std::span{section.rows}.first(section.rows.size() - noted.left_out.rows))
    noted.table.rows.push_back({{row.group.empty() ? "–" : printable(row.group)},
                                {printable(row.op)},
                                {means.count(row.count)},
                                {means.ms(row.comm_ns)},
                                {means.ms(row.overlapped_ns)},
                                {means.ms(row.exposed_ns())},
                                {share_text(row.overlapped_ns, row.comm_ns)}});
  std::int64_t headroom = 0;
  for (const RankOverlap& rank : section.ranks) headroom += rank.headroom_ns.value_or(0);
  if (headroom > 0)
    noted.notes.push_back(format("Better overlap could hide at most {} more per {}.",
                                 duration_text(headroom / means.parts()),
                                 section.rank_steps > 0 ? "step and rank" : "rank"));
  if (std::ranges::find(section.rows, host_waits, &OverlapRow::op) != section.rows.end())
    noted.notes.emplace_back(
        "(host waits): the time in which a host was blocked in communication outside of all recorded operations.");
  noted.notes.emplace_back(
      "If several operations run at the same time, that time is counted for the operation that started first. A large "
      "hidden share is not always good: waiting for other ranks can be hidden, too, and slow compute hides more than "
      "fast compute.");
  return noted;
}

NotedTable by_kernel(const OverlapSection& section, std::size_t most) {
  NotedTable noted{"Kernels that communication slows down", "launches and median times during communication and alone",
                   Table{{{"kernel", Align::left, widest_overlapped},
                          {"grid", Align::left, most_overlap_ranks},
                          {"during"},
                          {"alone"},
                          {"during"},
                          {"alone"},
                          {"ratio"},
                          {"cost"}},
                         {}},
                   left_out(section.contended.size(), most)};
  for (const ContendedKernel& kernel :
       std::span{section.contended}.first(section.contended.size() - noted.left_out.rows))
    noted.table.rows.push_back({{printable(kernel.short_name)},
                                {kernel.grid.empty() ? "–" : printable(kernel.grid)},
                                {format("{}", kernel.beside)},
                                {format("{}", kernel.alone)},
                                {duration_text(kernel.median_beside_ns)},
                                {duration_text(kernel.median_alone_ns)},
                                {format("{:.2f} x", kernel.ratio())},
                                {duration_text(kernel.cost_ns() / std::max<std::int64_t>(1, section.rank_steps))}});
  noted.notes.push_back(
      format("During: communication runs for 90 % of the kernel's time or more; alone: for 10 % or less. Cost: how "
             "much longer all launches during communication took than they would have taken alone{}.",
             section.rank_steps > 0 ? ", mean per step and rank" : ""));
  return noted;
}

}  // namespace

std::vector<NotedTable> overlap_tables(const Report& report, std::size_t most) {
  if (!report.overlap) return {};
  std::vector<NotedTable> tables{by_operation(*report.overlap, most)};
  if (!report.overlap->contended.empty()) tables.push_back(by_kernel(*report.overlap, most));
  return tables;
}

}  // namespace rankscope::analyzer
