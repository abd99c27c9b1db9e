#include "render/overlap.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"
#include "units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_name = 40;

std::string rows_left(std::size_t shown, std::size_t all) {
  return format("{} more; --top {} shows all.", all - shown, all);
}

NotedTable by_operation(const OverlapSection& section, std::size_t most) {
  const auto ranks = static_cast<std::int64_t>(section.ranks.size());
  const std::int64_t parts = std::max<std::int64_t>(1, section.rank_steps > 0 ? section.rank_steps : ranks);
  NotedTable noted{
      "Overlap of communication with compute",
      format("mean per {} of {}", section.rank_steps > 0 ? "step and rank" : "rank", counted(ranks, "rank")),
      {{{"group", Align::left, 16},
        {"operation", Align::left, widest_name},
        {"count"},
        {"ms"},
        {"hidden ms"},
        {"exposed ms"},
        {"hidden"}},
       {}},
      {}};
  for (const OverlapRow& row : section.rows) {
    if (noted.table.rows.size() == most) break;
    noted.table.rows.push_back({{row.group.empty() ? "–" : printable(row.group)},
                                {printable(row.op)},
                                {mean_count(row.count, parts)},
                                {mean_ms(row.comm_ns, parts)},
                                {mean_ms(row.overlapped_ns, parts)},
                                {mean_ms(row.exposed_ns(), parts)},
                                {share_text(row.overlapped_ns, row.comm_ns)}});
  }
  if (section.rows.size() > most) noted.notes.push_back(rows_left(most, section.rows.size()));
  std::int64_t headroom = 0;
  for (const RankOverlap& rank : section.ranks) headroom += rank.headroom_ns;
  if (headroom > 0)
    noted.notes.push_back(format("Better overlap could hide at most {} more per {} (upper bound).",
                                 duration_text(headroom / parts), section.rank_steps > 0 ? "step and rank" : "rank"));
  noted.notes.emplace_back(
      "Where operations run at once, an instant is charged to the one that began first. A high share can hide waiting "
      "or "
      "slow compute.");
  return noted;
}

NotedTable by_kernel(const OverlapSection& section, std::size_t most) {
  NotedTable noted{
      "Kernels that communication slows down",
      "median of launches beside communication and alone",
      {{{"kernel", Align::left, widest_name}, {"beside"}, {"alone"}, {"beside"}, {"alone"}, {"ratio"}, {"cost"}}, {}},
      {"beside: communication covers 90 % of the launch or more; alone: 10 % or less. Cost: what all launches "
       "beside communication took longer than alone."}};
  for (const ContendedKernel& kernel : section.contended) {
    if (noted.table.rows.size() == most) break;
    noted.table.rows.push_back({{printable(kernel.short_name)},
                                {format("{}", kernel.beside)},
                                {format("{}", kernel.alone)},
                                {duration_text(kernel.median_beside_ns)},
                                {duration_text(kernel.median_alone_ns)},
                                {format("{:.2f} x", kernel.ratio())},
                                {duration_text(kernel.cost_ns())}});
  }
  if (section.contended.size() > most) noted.notes.push_back(rows_left(most, section.contended.size()));
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
