#include "verdict/sentences.h"

#include <algorithm>

#include "steps/find.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "words/source_advice.h"

namespace rankscope::analyzer {
namespace {

std::int64_t size_of(const auto& list) { return static_cast<std::int64_t>(list.size()); }

std::string places_text(const QualityRow& row) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(row.where.size(), most); ++i)
    text += (i == 0 ? " In: " : "; ") + printable(row.where[i]);
  if (row.where.size() > most) text += format("; and {} more", row.where.size() - most);
  return text.empty() ? text : text + ".";
}

}  // namespace

std::string ranks_text(const Report& report) {
  const auto present = size_of(report.ranks);
  if (report.world_size > present) return format("{} of {} ranks", present, report.world_size);
  return counted(present, "rank");
}

std::string steps_text(const StepsSection& steps) {
  auto text = format(" · {}", counted(size_of(steps.steps), "step"));
  if (steps.median_ns <= 0) return text;
  const auto in_sums = size_of(counted_steps(steps));
  if (in_sums != size_of(steps.steps)) text += format(", {} of them counted:", in_sums);
  text += format("{} {} (90 % within {}", in_sums != size_of(steps.steps) ? "" : " of", duration_text(steps.median_ns),
                 duration_text(steps.p90_ns));
  if (in_sums >= least_for_jitter) text += format(", jitter {}", percent_text(steps.jitter));
  return text + ")";
}

std::string clock_text(const ClockInfo& clock) {
  if (clock.method == "none") return "Clocks: none in common; times of different ranks are not compared.";
  if (clock.method == "wall_clock")
    return format("Clocks: wall clocks, ± {}; times of different hosts are not compared.",
                  duration_text(clock.error.count()));
  auto method = clock.method == "unit_ends" ? "ends of shared operations" : clock.method;
  std::ranges::replace(method, '_', ' ');
  return format("Clocks: {}, ± {}; differences between ranks below twice that are not claimed.", printable(method),
                duration_text(clock.error.count()));
}

std::string asked_for_text(const AskedFor& part) {
  if (!part.steps && part.ranks.empty()) return {};
  std::string shown;
  if (part.steps && part.steps->first == part.steps->second) shown = format("step {}", part.steps->first);
  if (part.steps && part.steps->first != part.steps->second)
    shown = part.steps->second == to_the_end ? format("steps from {} on", part.steps->first)
                                             : format("steps {} to {}", part.steps->first, part.steps->second);
  if (!part.ranks.empty()) {
    if (!shown.empty()) shown += " of ";
    shown += ranks_text(part.ranks);
  }
  return format("Shown: only {}. What compares ranks is with all of them; data quality is that of the whole run.",
                shown);
}

std::string without_steps_text(const Report& report) {
  std::vector<RankId> without;
  if (report.rank_rows)
    for (const RankRow& row : *report.rank_rows)
      if (row.per_step.empty()) without.push_back(row.rank);
  if (without.empty() || without.size() == report.rank_rows->size()) return {};
  return format("Without steps: {}. Their numbers are of the whole recording and are left out of sums over ranks.",
                ranks_text(without));
}

std::int64_t steps_of(const std::vector<const RankRow*>& rows) {
  std::size_t most = 0;
  for (const RankRow* row : rows) most = std::max(most, row->per_step.size());
  return static_cast<std::int64_t>(most);
}

/// Where two or three ranks have too few steps for a verdict, who came last is all that can be said.
std::string hint_of(const StragglersSection& section) {
  const LastArrivals& last = section.last_arrivals;
  if (last.certainty == Certainty::fact || section.cannot_tell.empty() || last.ranks.empty()) return {};
  const auto& [rank, times] = last.ranks.front();
  if (2 * times <= last.counted) return {};
  return format(" Rank {} came last in {} of {}: a hint only, since of {} ranks one always does.", rank.value, times,
                counted(last.counted, last.by_operation ? "operation" : "step"),
                last.certainty == Certainty::of_two ? "two" : "three");
}

std::string basis_of(const StragglersSection& section) {
  auto basis = printable(section.compared) + hint_of(section);
  if (section.smallest_detectable && section.cannot_tell.empty()) {
    basis += format(" A rank slower by {} or more in two thirds of the steps would be found.",
                    percent_text(*section.smallest_detectable - 1));
  }
  return basis;
}

Tone tone_of(FindingSeverity severity) {
  switch (severity) {
    case FindingSeverity::critical:
    case FindingSeverity::major:
      return Tone::bad;
    case FindingSeverity::minor:
      return Tone::warning;
    case FindingSeverity::info:
      return Tone::faint;
  }
  return Tone::plain;
}

QualityWords words_of(const QualityRow& row, std::string_view source) {
  const auto& info = info_of(row.counter);
  const auto tone = info.severity == Severity::data_loss ? Tone::bad
                    : info.severity == Severity::error   ? Tone::warning
                                                         : Tone::faint;
  auto name = std::string{info.name};
  std::ranges::replace(name, '_', ' ');
  const auto kind = info.severity == Severity::data_loss ? "data loss" : name_of(info.severity);
  return {{std::string{kind}, tone},
          format("{}: {}. {}{}", name, row.value, advice_for(row.counter, source), places_text(row))};
}

}  // namespace rankscope::analyzer
