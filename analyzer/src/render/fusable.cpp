#include "render/fusable.h"

#include <algorithm>

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
  const bool per_step = section.rank_steps > 0;
  const std::int64_t parts = std::max<std::int64_t>(1, per_step ? section.rank_steps : section.ranks);
  NotedTable noted{"Sequences worth fusing",
                   format("mean per {} of {}", per_step ? "step and rank" : "rank", counted(section.ranks, "rank")),
                   {{{"pointwise kernels in a row", Align::left, widest_sequence},
                     {"kernels"},
                     {"runs"},
                     {"ms"},
                     {"gaps ms"},
                     {"share"}},
                    {}},
                   {}};
  for (const FusableSequence& row : section.sequences) {
    if (noted.table.rows.size() == most) break;
    noted.table.rows.push_back({{printable(row.kernels)},
                                {format("{}", row.length)},
                                {mean_count(row.count, parts)},
                                {mean_ms(row.kernel_ns, parts)},
                                {mean_ms(row.gap_ns, parts)},
                                {share_text(row.kernel_ns + row.gap_ns, section.window_ns)}});
  }
  if (section.sequences.size() > most)
    noted.notes.push_back(format("{} more; --top {} shows all. All together {} of the time.",
                                 section.sequences.size() - most, section.sequences.size(),
                                 share_text(section.kernel_ns + section.gap_ns, section.window_ns)));
  noted.notes.emplace_back(
      "torch.compile, or a fused operator or optimizer, makes one kernel of such a sequence: that gives back the gaps, "
      "and "
      "of the kernels what they spend on reading and writing what lies between them.");
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
