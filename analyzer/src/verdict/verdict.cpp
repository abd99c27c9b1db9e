#include "verdict/verdict.h"

#include <algorithm>

#include "alignment/parts.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "steps/parts.h"
#include "stragglers/parts.h"
#include "words/source_advice.h"

namespace rankscope::analyzer {
namespace {

std::string cut_input(const Report& report) {
  const auto row = std::ranges::find(report.data_quality, Counter::truncated_input, &QualityRow::counter);
  std::string where;
  if (row != report.data_quality.end() && !row->where.empty())
    where = format(" ({}{})", printable(row->where.front()), row->where.size() > 1 ? " and others" : "");
  return format("The input is cut short{}: work after the cut is missing and can look like idle time.", where);
}

constexpr std::string_view cut_segment = "A recording is cut short: what happened after the cut is not judged";

/// " (31 %)", of a step of that length.
std::string share_of(std::int64_t ns, std::int64_t step_ns) {
  return step_ns > 0 ? format(" ({})", percent_text(static_cast<double>(ns) / static_cast<double>(step_ns)))
                     : std::string{};
}

std::string sentence_on(const Straggler& row) {
  const auto rank = row.rank.value;
  const auto when = when_text(row).empty() ? std::string{} : " " + when_text(row);
  switch (row.certainty) {
    case Certainty::fact:
      return format("Rank {} is slow{}: it {}.", rank, when, behaviour_of(row));
    case Certainty::of_two:
      return format("Rank {} is the slower of two{}: it {}.", rank, when, behaviour_of(row));
    case Certainty::of_three:
      return format("Rank {} is the slowest of three{}: it {}.", rank, when, behaviour_of(row));
    case Certainty::few_steps:
      return format("Rank {} looks slow in these few steps: it {}.", rank, behaviour_of(row));
  }
  return {};
}

/// How much longer it takes in the steps meant.
std::string growth_of(const Straggler& row, bool partly) {
  const auto lag = duration_text(row.lag_ns_per_step);
  if (row.persistence == Persistence::transient) return format("In a step with a stall, the rank takes {} longer", lag);
  if (row.on_average)
    return format("On average its own work takes {:.2f} times as long, {} more per step", row.slowdown, lag);
  return format("Its own work takes {:.2f} times as long, {} more in each {}", row.slowdown, lag,
                partly ? "of these steps" : "step");
}

/// By how much, and what a fix saves.
std::string size_sentence(const Report& report, const Straggler& row) {
  const std::int64_t mean_ns = report.steps ? report.steps->mean_ns : 0;
  const bool partly = row.since_step || row.until_step;
  auto sentence = growth_of(row, partly);
  if (partly && row.gain_ns_while_slow > 0) {
    sentence += format(
        "; if it were as fast as its peers, each of these steps would be about {}{} shorter, and an average step of "
        "the run about {}{}",
        duration_text(row.gain_ns_while_slow), share_of(row.gain_ns_while_slow, row.step_ns_while_slow),
        duration_text(row.gain_ns_per_step), share_of(row.gain_ns_per_step, mean_ns));
  } else if (row.gain_ns_per_step > 0) {
    const bool average = row.persistence == Persistence::transient || row.on_average;
    sentence += format("; if it were as fast as its peers, {} would be about {}{} shorter",
                       average ? "an average step" : "each step", duration_text(row.gain_ns_per_step),
                       share_of(row.gain_ns_per_step, mean_ns));
  }
  if (const std::string more = together_text(row); !more.empty())
    sentence += format("; {}{}", more, share_of(row.together->ns_per_step, mean_ns));
  if (!row.why_no_gain.empty()) sentence += format(". The saving is unknown: {}", printable(row.why_no_gain));
  return sentence + ".";
}

Tone tone_of(FindingSeverity severity) { return severity >= FindingSeverity::major ? Tone::bad : Tone::warning; }

Verdict on_stragglers(const Report& report) {
  const auto& rows = report.stragglers->rows;
  Verdict verdict{tone_of(rows.front().severity), sentence_on(rows.front()), {size_sentence(report, rows.front())}};
  if (std::string code = code_sentence(rows.front()); !code.empty()) verdict.more.push_back(std::move(code));
  for (std::size_t i = 1; i < std::min<std::size_t>(rows.size(), 3); ++i) verdict.more.push_back(sentence_on(rows[i]));
  if (rows.size() == 4) verdict.more.emplace_back("1 more rank is listed below.");
  if (rows.size() > 4) verdict.more.push_back(format("{} more ranks are listed below.", rows.size() - 3));
  return verdict;
}

/// Findings that the stragglers do not show already, worst first as the report has them.
std::vector<const Finding*> other_findings(const Report& report) {
  std::vector<const Finding*> others;
  if (!report.findings) return others;
  for (const auto& finding : *report.findings) {
    if (finding.severity >= FindingSeverity::minor && !finding.id.starts_with("straggler")) others.push_back(&finding);
  }
  return others;
}

bool counts(const Report& report, Counter counter) {
  return std::ranges::find(report.data_quality, counter, &QualityRow::counter) != report.data_quality.end();
}

bool lost_data(const Report& report) {
  return std::ranges::any_of(report.data_quality, [](const QualityRow& row) {
    return row.value > 0 && info_of(row.counter).severity == Severity::data_loss;
  });
}

Verdict no_problem(const Report& report) {
  const auto& shown = report.asked_for.ranks;
  Verdict verdict{Tone::good,
                  format("No problem found in {} of {}.", counted(report.steps->steps.size(), "step"),
                         counted(shown.empty() ? report.ranks.size() : shown.size(), "rank")),
                  {}};
  if (report.stragglers->smallest_detectable) {
    verdict.more.push_back(
        format("A rank that is slower by {} or more in two thirds of the steps would have been found.",
               percent_text(*report.stragglers->smallest_detectable - 1)));
  }
  return verdict;
}

/// The worst problem is in what is not shown.
Verdict problem_left_out(const Report& report, std::span<const Finding* const> others) {
  const std::string rest =
      others.empty() ? format("No problem found in {} of the {} shown.", counted(report.steps->steps.size(), "step"),
                              counted(report.asked_for.ranks.size(), "rank"))
                     : sentence(others.front()->title);
  return {Tone::warning, left_out_text(report.asked_for), {rest}};
}

/// True for shares of everybody's time, which name neither a rank nor a cause; a slow rank may be part of it.
bool is_general(const Finding& finding) {
  return finding.id == "exposed_communication" || finding.id == "exposed_copies" || finding.id == "idle" ||
         finding.id.starts_with("efficiency") || finding.id.starts_with("step_time");
}

/// True if the others do not explain more than the slow ranks do.
bool leads(const StragglersSection& slow, const Finding& other) {
  const FindingSeverity severity = slow.rows.front().severity;
  return severity >= other.severity || (severity == FindingSeverity::major && is_general(other));
}

/// The worst of what was found; "no problem" only where nothing hides one.
Verdict main_verdict(const Report& report, const std::string& doubt) {
  const auto others = other_findings(report);
  const bool slow = report.stragglers && !report.stragglers->rows.empty();
  const auto& left_out = report.asked_for.slow_ranks_left_out;
  if (!left_out.empty() && !slow && (others.empty() || others.front()->severity <= left_out.front().severity))
    return problem_left_out(report, others);
  const bool worse = !others.empty() && others.front()->severity == FindingSeverity::critical;
  if (worse && !(slow && leads(*report.stragglers, *others.front()))) {
    Verdict verdict{Tone::bad, sentence(others.front()->title), {}};
    if (slow) verdict.more.push_back(sentence_on(report.stragglers->rows.front()));
    return verdict;
  }
  if (slow) {
    Verdict verdict = on_stragglers(report);
    if (worse) verdict.more.push_back(sentence(others.front()->title));
    return verdict;
  }
  if (!others.empty()) return {tone_of(others.front()->severity), sentence(others.front()->title), {}};
  if (!report.why_not_compared.empty()) return {Tone::warning, doubt, {}};
  if (!doubt.empty()) return {Tone::warning, doubt, {"NOT AVAILABLE below says how to get the missing data."}};
  return no_problem(report);
}

/// The recorder wrote that some of its processes had not ended.
bool still_runs(const Report& report) {
  return std::ranges::any_of(report.facts, [](const auto& fact) { return fact.first == "still_running"; });
}

/// Why, and what to do about it; empty if ranks were compared.
std::string not_compared_text(const Report& report) {
  if (report.why_not_compared.empty()) return {};
  return format("Ranks could not be compared, since no collectives were recorded. {}",
                advice_for(Wanted::comparison, report.source));
}

}  // namespace

std::string cannot_tell(const Report& report) {
  std::vector<std::pair<std::string, std::string>> reasons;  // what, and why; each why once
  const auto add = [&](std::string_view what, const std::string& why) {
    const auto known = std::ranges::find(reasons, why, &std::pair<std::string, std::string>::second);
    if (known != reasons.end())
      known->first += format(", {}", what);
    else
      reasons.emplace_back(what, why);
  };
  if (!report.steps) add("the steps are unknown", report.steps.error().why);
  const std::string not_compared = not_compared_text(report);
  const bool compared = not_compared.empty();
  if (compared && report.steps && !report.stragglers) add("ranks cannot be compared", report.stragglers.error().why);
  if (report.stragglers && !report.stragglers->cannot_tell.empty()) {
    add(report.stragglers->rows.empty() ? "slow ranks could be hidden" : "other slow ranks could be hidden",
        report.stragglers->cannot_tell);
  }
  if (!report.rank_rows) add("where the time went is unknown", report.rank_rows.error().why);
  if (compared && !report.collectives && report.ranks.size() > 1)
    add("collectives are unknown", report.collectives.error().why);
  if (report.rank_rows && !report.findings) add("findings are missing", report.findings.error().why);
  std::string text;
  for (const auto& [what, why] : reasons) text += format("{}{} ({})", text.empty() ? "" : "; ", what, printable(why));
  if (text.empty()) return not_compared;
  return format("{}{}Cannot tell: {}.", not_compared, compared ? "" : " ", text);
}

std::vector<std::string> doubts_about(const Report& report) {
  std::vector<std::string> doubts;
  if (counts(report, Counter::truncated_input))
    doubts.push_back(cut_input(report));
  else if (counts(report, Counter::segment_cut))
    doubts.push_back(format("{}.", cut_segment));
  else if (lost_data(report))
    doubts.emplace_back("Parts of the recording are missing.");
  if (auto doubt = cannot_tell(report); !doubt.empty()) doubts.push_back(std::move(doubt));
  return doubts;
}

Verdict verdict_of(const Report& report) {
  const auto doubt = cannot_tell(report);
  Verdict verdict = main_verdict(report, doubt);
  const auto add = [&verdict](const std::string& text) {
    const bool said = verdict.headline == text || std::ranges::find(verdict.more, text) != verdict.more.end();
    if (!text.empty() && !said) verdict.more.push_back(text);
  };
  if (counts(report, Counter::truncated_input)) {
    verdict.more.insert(verdict.more.begin(), verdict.headline);
    verdict.headline = cut_input(report);
    if (verdict.tone == Tone::good) verdict.tone = Tone::warning;
  } else if (counts(report, Counter::segment_cut)) {
    add(format("{}; DATA QUALITY names the rank.", cut_segment));
    if (verdict.tone == Tone::good) std::swap(verdict.headline, verdict.more.back());
    if (verdict.tone == Tone::good) verdict.tone = Tone::warning;
  }
  if (still_runs(report)) add("The job is still running: this report covers what it has recorded so far.");
  add(left_out_text(report.asked_for));
  add(doubt);
  if (lost_data(report)) add("Parts of the recording are missing; see DATA QUALITY.");
  return verdict;
}

std::string ranks_text(const Report& report) {
  const auto present = static_cast<std::int64_t>(report.ranks.size());
  if (report.world_size > present) return format("{} of {} ranks", present, report.world_size);
  return counted(present, "rank");
}

std::string asked_for_text(const AskedFor& part) {
  if (!part.steps && part.ranks.empty()) return {};
  std::string shown;
  if (part.steps && part.steps->first == part.steps->second) shown = format("step {}", part.steps->first);
  if (part.steps && part.steps->first != part.steps->second)
    shown = part.steps->second == to_the_end ? format("steps {} and later", part.steps->first)
                                             : format("steps {} to {}", part.steps->first, part.steps->second);
  if (!part.ranks.empty()) {
    if (!shown.empty()) shown += " of ";
    shown += ranks_text(part.ranks);
  }
  return format("Shown: only {}. Comparisons between ranks use all ranks; data quality covers the whole run.", shown);
}

void add_verdict(Page& page, const Report& report, const ReportOptions&) {
  const auto verdict = verdict_of(report);
  page.heading("VERDICT");
  page.paragraph(verdict.headline, verdict.tone);
  for (const auto& sentence : verdict.more) page.paragraph(sentence);
}

void add_head(Page& page, const Report& report, const ReportOptions&) {
  page.heading("RUN");
  page.paragraph(format("{}{} · {} recorded by {}", ranks_text(report), report.steps ? steps_text(*report.steps) : "",
                        duration_text(report.duration_ns), printable(report.source)));
  if (const auto part = asked_for_text(report.asked_for); !part.empty()) page.paragraph(part, Tone::warning);
  if (report.steps) page.paragraph(steps_source(*report.steps), Tone::faint);
  for (const ClockLine& line : clock_lines(report)) page.paragraph(line.text, line.tone);
  std::string facts;
  for (const auto& [name, value] : report.facts) {
    facts += format("{}{} {}", facts.empty() ? "" : " · ", printable(name), printable(value));
  }
  if (!facts.empty()) page.paragraph(facts);
}

}  // namespace rankscope::analyzer
