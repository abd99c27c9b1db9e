// Who made others wait.
#include "blame/parts.h"

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/shades.h"
#include "render/left_out.h"
#include "render/words.h"

namespace rankscope::analyzer::html {
namespace {

std::string delay_tooltip(RankId waiting, RankId last_to_arrive, std::int64_t ns) {
  return format("rank {} waited {} for rank {}", waiting.value, duration_text(ns), last_to_arrive.value);
}

void write_left_out(Writer& page, std::size_t all, std::size_t shown) {
  if (all > shown) page.element("p", only_in_json(all - shown));
}

void write_waiting(Writer& page, const BlameSection& section) {
  const std::vector<RankCell> cells = waiting_cells(section);
  if (cells.empty()) return;
  const RankMatrix matrix = rank_matrix(cells, most_ranks_drawn);
  write_rank_map(page, matrix,
                 {{"waiting-map", format("Who waited for whom{}", section.rank_steps > 0 ? ", per step" : ""),
                   "One cell for each pair of ranks, coloured by how long the rank of the row waited directly for "
                   "the rank of the column; the table below has the numbers."},
                  "rank that waited",
                  "rank it waited for",
                  delay_tooltip});
  if (matrix.left_out > 0)
    page.element(
        "p",
        format("Only the ranks with the most waiting are shown; {} of waiting between other ranks is left out.",
               duration_text(matrix.left_out)),
        {{"class", "faint"}});
  write_folded_table(page, table_of(matrix, "waiting rank", duration_text), "Who waited (rows) for whom (columns)");
}

}  // namespace

void write_blame(Writer& page, const Source& source) {
  if (!source.report.blame) return;
  const BlameSection& section = *source.report.blame;
  if (section.total_ns == 0) {
    page.element("p", little_waiting_text(source.report));
  } else {
    const std::size_t most = most_rows(source.options);
    write_table(page, blame_table(section, most), format("Who made others wait: {}", blame_explanation(section)));
    write_left_out(page, section.rows.size(), most);
    write_waiting(page, section);
    write_table(page, blame_group_table(section, most), "Waiting by group and operation");
    write_left_out(page, section.groups.size(), most);
  }
  for (const std::string& note : blame_notes(section)) page.element("p", note, {{"class", "faint"}});
}

}  // namespace rankscope::analyzer::html
