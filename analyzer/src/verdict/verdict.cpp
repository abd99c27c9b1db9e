#include "verdict/verdict.h"

#include <algorithm>
#include <span>

#include "alignment/parts.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "split/row_sums.h"
#include "steps/parts.h"
#include "stragglers/parts.h"
#include "verdict/doubts.h"

namespace rankscope::analyzer {
namespace {

/// " (31 %)", of a step of that length.
std::string share_of(std::int64_t ns, std::int64_t step_ns) {
  return step_ns > 0 ? format(" ({})", percent_text(static_cast<double>(ns) / static_cast<double>(step_ns)))
                     : std::string{};
}

std::int64_t mean_step_ns(const Report& report) { return report.steps ? report.steps->mean_ns : 0; }

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
  if (row.persistence == Persistence::transient)
    return format("In a step with a stall, the rank takes {} longer than its peers", lag);
  if (row.on_average)
    return format("On average its own work takes {:.2f} times as long as its peers', {} more per step", row.slowdown,
                  lag);
  return format("Its own work takes {:.2f} times as long as its peers', {} more {}", row.slowdown, lag,
                partly ? "in each of these steps" : "per step");
}

/// Why a saving is larger than what the rank loses by its own time; empty if it is not.
std::string why_more_text(const Straggler& row, std::int64_t gain_ns) {
  if (row.persistence == Persistence::transient || gain_ns <= row.lag_ns_per_step + row.lag_ns_per_step / 20) return {};
  return format(" The saving can exceed {}, because the replay also shortens the rank's transfers and delays{}.",
                duration_text(row.lag_ns_per_step), row.on_average ? "" : ", and uses means instead of medians");
}

/// By how much, and what a fix saves.
std::string size_sentence(const Report& report, const Straggler& row) {
  const std::int64_t mean_ns = mean_step_ns(report);
  const bool partly = row.since_step || row.until_step;
  auto sentence = growth_of(row, partly);
  if (partly && row.gain_ns_while_slow > 0) {
    sentence += format(
        "; if the rank were as fast as its peers, each of these steps would be about {}{} shorter, and an average step "
        "of the run about {}{}",
        duration_text(row.gain_ns_while_slow), share_of(row.gain_ns_while_slow, row.step_ns_while_slow),
        duration_text(row.gain_ns_per_step), share_of(row.gain_ns_per_step, mean_ns));
  } else if (row.gain_ns_per_step > 0) {
    const bool average = row.persistence == Persistence::transient || row.on_average;
    sentence += format("; if the rank were as fast as its peers, {} would be about {}{} shorter",
                       average ? "an average step" : "each step", duration_text(row.gain_ns_per_step),
                       share_of(row.gain_ns_per_step, mean_ns));
  }
  if (const std::string more = together_text(row); !more.empty())
    sentence += format("; {}{}", more, share_of(row.together->ns_per_step, mean_ns));
  if (!row.why_no_gain.empty()) sentence += format(". The saving is unknown: {}", printable(row.why_no_gain));
  const bool while_slow = partly && row.gain_ns_while_slow > 0;
  return sentence + "." + why_more_text(row, while_slow ? row.gain_ns_while_slow : row.gain_ns_per_step);
}

Tone tone_of_verdict(FindingSeverity severity) {
  return severity >= FindingSeverity::major ? Tone::bad : Tone::warning;
}

Verdict on_stragglers(const Report& report) {
  const auto& rows = report.stragglers->rows;
  Verdict verdict{
      tone_of_verdict(rows.front().severity), sentence_on(rows.front()), {size_sentence(report, rows.front())}};
  if (std::string code = code_sentence(rows.front()); !code.empty()) verdict.more.push_back(std::move(code));
  for (std::size_t i = 1; i < std::min<std::size_t>(rows.size(), 3); ++i) verdict.more.push_back(sentence_on(rows[i]));
  if (rows.size() == 4) verdict.more.emplace_back("1 more slow rank is listed below.");
  if (rows.size() > 4) verdict.more.push_back(format("{} more slow ranks are listed below.", rows.size() - 3));
  return verdict;
}

/// Findings that the stragglers do not show already, worst first as the report has them.
std::vector<const Finding*> other_findings(const Report& report) {
  std::vector<const Finding*> others;
  if (!report.findings) return others;
  for (const auto& finding : *report.findings) {
    if (finding.severity >= FindingSeverity::minor && !finding.id.starts_with(finding_family::straggler))
      others.push_back(&finding);
  }
  return others;
}

/// "in 20 steps of 4 ranks"
std::string judged_text(const Report& report) {
  const auto& shown = report.asked_for.ranks;
  return format("in {} of {}", counted(report.steps->steps.size(), "step"),
                counted(shown.empty() ? report.ranks.size() : shown.size(), "rank"));
}

Verdict no_problem(const Report& report) {
  if (!lost_evidence(report).empty()) return {Tone::warning, "No problem was found in what can be judged.", {}};
  Verdict verdict{Tone::good, format("No problem found {}.", judged_text(report)), {}};
  if (report.thinned)
    verdict.more.push_back(
        format("For the steps before step {}, only sums are recorded: these steps were searched only for slow ranks.",
               report.thinned->first_full_step));
  if (report.stragglers->smallest_detectable) {
    verdict.more.push_back(
        format("A rank that is slower by {} or more in two thirds of the steps would have been found.",
               percent_text(*report.stragglers->smallest_detectable - 1)));
  }
  return verdict;
}

/// The worst problem is in what is not shown.
Verdict problem_left_out(const Report& report, std::span<const Finding* const> others) {
  const std::string shown = counted(report.asked_for.ranks.size(), "rank");
  std::string rest;
  if (!others.empty())
    rest = sentence(others.front()->title);
  else if (shows_everything(report))
    rest = format("No problem found in {} of the {} shown.", counted(report.steps->steps.size(), "step"), shown);
  else
    rest = format("No problem was found in what can be judged of the {} shown.", shown);
  return {Tone::warning, left_out_text(report.asked_for), {rest}};
}

/// "Fix the slow rank first." of "Fix the slow rank first: most of the …"; brackets stay whole.
std::string start_of_advice(std::string_view advice) {
  int open = 0;
  for (std::size_t i = 0; i + 1 < advice.size(); ++i) {
    if (advice[i] == '(') ++open;
    if (advice[i] == ')') --open;
    const bool ends = std::string_view{":;."}.find(advice[i]) != std::string_view::npos && advice[i + 1] == ' ';
    if (open == 0 && ends) return sentence(advice.substr(0, i));
  }
  return sentence(advice);
}

/// "Most of it is all-reduce, 8.20 ms per step and rank. Up to 147 ms per step (42 %) could be saved."; may be empty.
std::string cause_and_saving(const Report& report, const Finding& finding) {
  std::string text;
  if (!finding.cause.empty())
    text = sentence(finding.cause);
  else if (!finding.advice.empty())
    text = start_of_advice(finding.advice);
  const std::string gap = text.empty() ? "" : " ";
  if (finding.gain_ns_per_step > 0)
    text += format("{}Up to {} per step{} could be saved.", gap, duration_text(finding.gain_ns_per_step),
                   share_of(finding.gain_ns_per_step, mean_step_ns(report)));
  else if (!finding.why_no_gain.empty())
    text += format("{}The saving is unknown: {}.", gap, printable(finding.why_no_gain));
  return text;
}

bool is_missing_ranks(const Finding& finding) { return finding.id == finding_id::ranks_missing; }

/// False if a minor finding states a fact, or names a rank whose cost is not known: then it is no hint.
bool is_hint(const Finding& finding) {
  if (finding.severity > FindingSeverity::minor || finding.id == finding_id::job_stopped) return false;
  return !is_about_one_rank(finding) || finding.why_no_gain.empty();
}

/// "the largest finding: 12 % of the time only copies run (a fix saves up to 1.20 ms per step)"
std::string hint_text(const Finding& finding) {
  std::string text = format("the largest finding: {}", printable(finding.title));
  if (finding.gain_ns_per_step > 0)
    text += format(" (a fix saves up to {} per step)", duration_text(finding.gain_ns_per_step));
  return text;
}

/// `where`: "in 20 steps of 4 ranks", "in what can be judged".
std::string hint_sentence(const Finding& finding, std::string_view where) {
  if (finding.held_at_minor.empty()) return format("No large problem was found {}; {}.", where, hint_text(finding));
  return sentence(
      format("{}; how large a problem it is cannot be judged {}", hint_text(finding), finding.held_at_minor));
}

/// "rank 0", as far as its time is known.
std::string recorded_ranks(const Report& report) {
  std::vector<RankId> ranks;
  for (const RankRow& row : *report.rank_rows) ranks.push_back(row.rank);
  return ranks_text(ranks);
}

/// What is known of the ranks that were recorded where the others have no recording: the worst of the rest.
std::string of_the_recorded(const Report& report, std::span<const Finding* const> rest) {
  if (!report.rank_rows || !lost_evidence(report).empty()) return {};
  const std::string where = "on " + recorded_ranks(report);
  if (!rest.empty()) return hint_sentence(*rest.front(), where);
  if (!report.steps) return {};
  TimeSplit total;
  for (const RankRow* row : rows_to_sum(*report.rank_rows)) total += row->total;
  if (total.window_ns <= 0 || !report.why_not_compared.empty()) return {};
  const auto share = [&total](std::int64_t ns) {
    return percent_text(static_cast<double>(ns) / static_cast<double>(total.window_ns));
  };
  return sentence(format("nothing stands out {}: exposed communication {}, idle {}", where,
                         share(total.exposed_comm_ns), share(total.idle_ns)));
}

/// Led by the worst finding.
Verdict on_findings(const Report& report, std::span<const Finding* const> findings) {
  const Finding& worst = *findings.front();
  Verdict verdict{tone_of_verdict(worst.severity), sentence(worst.title), {}};
  std::string more;
  if (is_missing_ranks(worst)) {
    more = of_the_recorded(report, findings.subspan(1));
  } else if (is_hint(worst)) {
    const bool all = shows_everything(report) && report.steps && few_ranks_sentence(report, "").empty();
    verdict.headline = hint_sentence(worst, all ? judged_text(report) : "in what can be judged");
  } else {
    more = cause_and_saving(report, worst);
  }
  if (!more.empty()) verdict.more.push_back(std::move(more));
  return verdict;
}

/// True for shares of everybody's time, which name neither a rank nor a cause; a slow rank may be part of it.
bool is_general(const Finding& finding) {
  return finding.id == finding_id::exposed_communication || finding.id == finding_id::exposed_copies ||
         finding.id == finding_id::idle || finding.id.starts_with(finding_id::efficiency) ||
         finding.id.starts_with(finding_family::step_time);
}

/// True if the others do not explain more than the slow ranks do.
bool leads(const StragglersSection& slow, const Finding& other) {
  const FindingSeverity severity = slow.rows.front().severity;
  return severity >= other.severity || (severity == FindingSeverity::major && is_general(other));
}

/// True if NOT AVAILABLE has something to say on the doubts.
bool lacks_a_section(const Report& report) {
  const auto is_missed = [](const auto& section) { return !section && section.error().missed == Missed::yes; };
  return is_missed(report.steps) || is_missed(report.rank_rows) || is_missed(report.collectives) ||
         is_missed(report.stragglers);
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
    Verdict verdict = on_findings(report, others);
    if (slow) verdict.more.push_back(sentence_on(report.stragglers->rows.front()));
    return verdict;
  }
  if (slow) {
    Verdict verdict = on_stragglers(report);
    if (worse) verdict.more.push_back(sentence(others.front()->title));
    return verdict;
  }
  if (!others.empty()) return on_findings(report, others);
  if (!report.why_not_compared.empty()) return {Tone::warning, doubt, {}};
  if (!doubt.empty()) {
    Verdict verdict{Tone::warning, doubt, {}};
    if (lacks_a_section(report)) verdict.more.emplace_back("To get the missing data, see NOT AVAILABLE (--full).");
    return verdict;
  }
  return no_problem(report);
}

bool says(const Verdict& verdict, std::string_view sentence) {
  return verdict.headline == sentence || std::ranges::find(verdict.more, sentence) != verdict.more.end();
}

/// True if the verdict has the finding on ranks without a recording.
bool names_missing_ranks(const Report& report, const Verdict& verdict) {
  return report.findings && std::ranges::any_of(*report.findings, [&](const Finding& finding) {
           const bool names_them = is_missing_ranks(finding) || finding.id == finding_id::lost_at_start;
           return names_them && says(verdict, sentence(finding.title));
         });
}

}  // namespace

Verdict verdict_of(const Report& report) {
  const auto doubt = cannot_tell(report);
  Verdict verdict = main_verdict(report, doubt);
  const auto add = [&verdict](const std::string& text) {
    if (!text.empty() && !says(verdict, text)) verdict.more.push_back(text);
  };
  if (counts(report, Counter::truncated_input)) {
    verdict.more.insert(verdict.more.begin(), verdict.headline);
    verdict.headline = cut_input_text(report);
  } else if (counts(report, Counter::segment_cut)) {
    add(format("{}; DATA QUALITY (--full) names the rank.", cut_segment));
  }
  if (still_runs(report)) add("The job is still running: this report covers what it has recorded so far.");
  add(left_out_text(report.asked_for));
  if (!names_missing_ranks(report, verdict)) add(few_ranks_sentence(report, doubt));
  add(doubt);
  if (report.stragglers) add(arrival_hint(*report.stragglers));
  if (const std::string_view lost = lost_evidence(report); !lost.empty()) add(format("{}; see DATA QUALITY.", lost));
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
  page.paragraph(format("{}{} · {} recorded by {}{}", ranks_text(report), report.steps ? steps_text(*report.steps) : "",
                        duration_text(report.duration_ns), printable(report.source), in_steps_text(report)));
  if (const auto part = asked_for_text(report.asked_for); !part.empty()) page.paragraph(part, Tone::warning);
  if (report.steps) page.paragraph(steps_source(report), Tone::faint);
  for (const ClockLine& line : clock_lines(report)) page.paragraph(line.text, line.tone);
  std::string facts;
  for (const auto& [name, value] : report.facts) {
    facts += format("{}{} {}", facts.empty() ? "" : " · ", printable(name), printable(value));
  }
  if (!facts.empty()) page.paragraph(facts);
}

}  // namespace rankscope::analyzer
