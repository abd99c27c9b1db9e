#include "stragglers/parts.h"

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/words.h"

namespace rankscope::analyzer {

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

/// One of two or three ranks always arrives last: fewer operations or steps than this, or a smaller part of them than
/// three quarters, are not even a hint.
constexpr std::int64_t least_for_a_hint = 3;

}  // namespace

std::string arrival_hint(const StragglersSection& section) {
  const LastArrivals& last = section.last_arrivals;
  if (last.certainty == Certainty::fact || section.cannot_tell.empty() || last.ranks.empty()) return {};
  if (!section.rows.empty()) return {};
  const auto& [rank, times] = last.ranks.front();
  if (last.counted < least_for_a_hint || 4 * times < 3 * last.counted) return {};
  return format(
      "{}: this is only a hint, since with only {} ranks, the same rank can often arrive last without being slow.",
      arrived_last_text(format("Rank {}", rank.value), times,
                        counted(last.counted, last.by_operation ? "operation" : "step"), !last.by_operation),
      last.certainty == Certainty::of_two ? "two" : "three");
}

std::string_view question_of(const Report& report) {
  const bool none_is_known = report.stragglers->rows.empty() && report.asked_for.slow_ranks_left_out.empty();
  return none_is_known ? "whether a rank is slow" : "whether other ranks are slow, too";
}

std::string doubt_sentence(const Report& report) {
  const std::string& why = report.stragglers->cannot_tell;
  return why.empty() ? std::string{} : format("Cannot tell {}: {}.", question_of(report), printable(why));
}

std::string left_out_text(const AskedFor& part) {
  const auto& rows = part.slow_ranks_left_out;
  if (rows.empty()) return {};
  if (rows.size() == 1) {
    const auto when = when_text(rows.front());
    return format("Rank {}, which is not shown, is slow{}{} ({:.2f} x): it {}.", rows.front().rank.value,
                  when.empty() ? "" : " ", when, rows.front().slowdown, behaviour_of(rows.front()));
  }
  std::vector<RankId> ranks;
  for (const Straggler& row : rows) ranks.push_back(row.rank);
  std::ranges::sort(ranks);
  return format("Ranks {}, which are not shown, are slow.", rank_ranges(ranks));
}

std::string basis_of(const Report& report) {
  const StragglersSection& section = *report.stragglers;
  auto basis = printable(section.compared);
  if (const std::string hint = arrival_hint(section); !hint.empty()) basis += " " + hint;
  if (section.smallest_detectable && section.cannot_tell.empty() && lost_evidence(report).empty()) {
    basis += format(" A rank that is slower by {} or more in two thirds of the steps would have been found.",
                    percent_text(*section.smallest_detectable - 1));
  }
  return basis;
}

std::string none_text(const Report& report) {
  const std::string left_out = left_out_text(report.asked_for);
  if (!report.stragglers->cannot_tell.empty()) return left_out;
  const std::string_view lost = lost_evidence(report);
  if (left_out.empty()) return lost.empty() ? "None." : format("No slow rank was found. {}; see DATA QUALITY.", lost);
  if (lost.empty()) return "None of the ranks shown is slow. " + left_out;
  return format("None of the ranks shown was found to be slow. {}; see DATA QUALITY. {}", lost, left_out);
}

Table straggler_table(const StragglersSection& section) {
  Table table{{{"rank"},
               {"kind", Align::left},
               {"when", Align::left},
               {"slowdown"},
               {"lost per step"},
               {"severity", Align::left},
               {"certainty", Align::left}},
              {}};
  for (const auto& row : section.rows) {
    table.rows.push_back({{format("{}", row.rank.value), Tone::heading},
                          {std::string{short_words_of(row.kind)}},
                          {when_text(row).empty() ? "all the time" : when_text(row)},
                          {format("{:.2f} x", row.slowdown)},
                          {duration_text(row.lag_ns_per_step)},
                          {std::string{name_of(row.severity)}},
                          {certainty_text(row.certainty)}});
  }
  return table;
}

void add_stragglers(Page& page, const Report& report, const ReportOptions&) {
  if (!report.stragglers) return;
  const auto& section = *report.stragglers;
  page.heading("SLOW RANKS");
  if (section.rows.empty()) {
    if (const std::string none = none_text(report); !none.empty())
      page.paragraph(none, report.asked_for.slow_ranks_left_out.empty() ? Tone::plain : Tone::warning);
  } else {
    page.table(straggler_table(section));
    for (const auto& row : section.rows) {
      if (row.evidence.empty()) continue;
      page.item({format("rank {}", row.rank.value), Tone::faint}, printable(row.evidence + code_text(row)), 8);
    }
  }
  if (!section.cannot_tell.empty()) page.paragraph(doubt_sentence(report), Tone::warning);
  page.paragraph(basis_of(report), Tone::faint);
}

}  // namespace rankscope::analyzer
