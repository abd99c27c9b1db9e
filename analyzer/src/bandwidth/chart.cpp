// How fast data moved, and who sent how much to whom.
#include "bandwidth/parts.h"

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/shades.h"
#include "render/left_out.h"
#include "render/words.h"

namespace rankscope::analyzer::html {
namespace {

std::string tooltip(RankId from, RankId to, std::int64_t bytes) {
  return format("rank {} sent {} to rank {}", from.value, bytes_text(bytes), to.value);
}

void write_traffic(Writer& page, const BandwidthSection& section, std::size_t most) {
  const RankMatrix matrix = rank_matrix(traffic_cells(section), most_ranks_drawn);
  write_rank_map(page, matrix,
                 {{"traffic-map", "Bytes sent from rank to rank",
                   "One cell for each pair of ranks, coloured by how many bytes one sent to the other; the table "
                   "below has the numbers."},
                  "from",
                  "to",
                  tooltip});
  if (matrix.left_out > 0)
    page.element("p",
                 format("Only the ranks with the most bytes are shown; {} sent between other ranks is left out.",
                        bytes_text(matrix.left_out)),
                 {{"class", "faint"}});
  write_table(page, traffic_table(section, most), "Sends from rank to rank, most bytes first");
  if (section.traffic.size() > most) page.element("p", only_in_json(section.traffic.size() - most));
}

}  // namespace

void write_bandwidth(Writer& page, const Source& source) {
  if (!source.report.bandwidth) return;
  const BandwidthSection& section = *source.report.bandwidth;
  const std::size_t most = most_rows(source.options);
  for (const std::string& note : slow_path_notes(section)) page.element("p", note, {{"class", "warning"}});
  if (!section.rows.empty()) {
    write_table(page, bandwidth_table(section, most), "Bandwidth by group, operation and size (1 GB = 10⁹ bytes)");
    if (section.rows.size() > most) page.element("p", only_in_json(section.rows.size() - most));
    for (const std::string& note : bandwidth_notes(section)) page.element("p", note, {{"class", "faint"}});
  }
  if (!section.traffic.empty()) write_traffic(page, section, most);
  if (section.margins.empty()) return;
  write_table(page, margin_table(section, most), "Bytes that each rank sent, received and passed to collectives");
  if (section.margins.size() > most) page.element("p", only_in_json(section.margins.size() - most));
  page.element("p",
               "Passed to collectives: the number of elements times their size, on each rank. The paths that the data "
               "took are not recorded.",
               {{"class", "faint"}});
}

}  // namespace rankscope::analyzer::html
