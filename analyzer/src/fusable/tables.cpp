#include "fusable/parts.h"

#include <span>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/number_alike.h"
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
  const auto shown = std::span{section.sequences}.first(section.sequences.size() - noted.left_out.rows);
  std::vector<std::string> whole;
  std::vector<std::string> narrow;
  for (const FusableSequence& row : shown) {
    whole.push_back(printable(row.kernels));
    narrow.push_back(shortened(whole.back(), widest_sequence));
  }
  const bool numbered = number_alike(narrow, whole);
  for (std::string& name : narrow) name = shortened(name, widest_sequence);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const FusableSequence& row = shown[i];
    noted.table.rows.push_back({{whole[i], Tone::plain, narrow[i]},
                                {format("{}", row.length)},
                                {means.count(row.count)},
                                {means.ms(row.kernel_ns)},
                                {means.ms(row.gap_ns)},
                                {share_text(row.kernel_ns + row.gap_ns, section.window_ns)}});
  }
  if (numbered)
    noted.notes.emplace_back(
        "A number in parentheses, such as (1), marks sequences that differ only in the part that is cut off here; the "
        "JSON report has them in full.");
  noted.notes.push_back(format("All these sequences together take {} of the time.",
                               share_text(section.kernel_ns + section.gap_ns, section.window_ns)));
  noted.notes.push_back(format(
      "{} turns a sequence into one kernel. That saves the gaps, and the time in which the kernels read and write "
      "intermediate results.",
      report.uses_pytorch ? "torch.compile, a fused operator or a fused optimizer" : "A fused operator"));
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
