#include "render/fusable.h"

#include <span>

#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_sequence = 56;

}  // namespace

std::vector<NotedTable> fusable_tables(const Report& report, std::size_t most) {
  if (!report.fusable || report.fusable->sequences.empty()) return {};
  const FusableSection& section = *report.fusable;
  const Means means{section.ranks, section.rank_steps};
  NotedTable noted{"Sequences worth fusing", means.words(),
                   Table{{{"pointwise kernels in a row", Align::left, widest_sequence},
                          {"kernels"},
                          {"runs"},
                          {"ms"},
                          {"gaps ms"},
                          {"share"}},
                         {}},
                   left_out(section.sequences.size(), most)};
  for (const FusableSequence& row : std::span{section.sequences}.first(section.sequences.size() - noted.left_out.rows))
    noted.table.rows.push_back({{printable(row.kernels)},
                                {format("{}", row.length)},
                                {means.count(row.count)},
                                {means.ms(row.kernel_ns)},
                                {means.ms(row.gap_ns)},
                                {share_text(row.kernel_ns + row.gap_ns, section.window_ns)}});
  noted.notes.push_back(
      format("All such rows: {} of the time.", share_text(section.kernel_ns + section.gap_ns, section.window_ns)));
  noted.notes.emplace_back(
      "torch.compile, or a fused operator or optimizer, makes one kernel of such a sequence: that gives back the gaps, "
      "and "
      "of the kernels what they spend on reading and writing what lies between them.");
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
