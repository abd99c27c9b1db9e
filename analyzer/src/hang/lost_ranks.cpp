#include "hang/parts.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "hang/absent_ranks.h"
#include "hang/process_ends.h"
#include "hang/reported_root.h"
#include "hang/suspects.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "steps/find.h"
#include "words/source_advice.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

using hang::Ends;
using hang::MissedOperation;
using hang::Suspect;

/// The step the peers were in when they needed the rank; else the one after its own last complete step.
std::optional<std::int64_t> step_of_loss(const Section<StepsSection>& steps, const Suspect& lost) {
  if (!steps) return std::nullopt;
  if (lost.frontier->first) {
    const MissedOperation& missed = *lost.frontier->first;
    const std::span<const StepWindow> windows = windows_of(*steps, missed.peer);
    const auto after = std::ranges::upper_bound(windows, missed.started, {},
                                                [](const StepWindow& window) { return window.window.begin; });
    if (after != windows.begin()) {
      const StepWindow& begun = *(after - 1);
      return begun.complete && missed.started >= begun.window.end ? begun.index + 1 : begun.index;
    }
  }
  const std::span<const StepWindow> own = windows_of(*steps, lost.process->rank);
  if (own.empty()) return std::nullopt;
  return own.back().complete ? own.back().index + 1 : own.back().index;
}

/// On the process's own clock. The program had started earlier.
std::string length_of(const Process& process) {
  return duration_text((process.recorded.end - process.recorded.begin).count());
}

std::string age_of(const Suspect& suspect) {
  return duration_text(suspect.lived.count()) + " after its recording began";
}

std::string how_it_ended(const Suspect& suspect) {
  const Process& process = *suspect.process;
  if (suspect.signal > 0) return format("it was killed by {} {}", hang::signal_words(suspect.signal), age_of(suspect));
  if (process.ending == Ending::vanished)
    return format("its recording stops {} after it began: the process was killed, crashed or called _exit",
                  length_of(process));
  return format("it exited with status {}, {}", process.exit_status, age_of(suspect));
}

/// True if the title says by which signal it was killed.
bool is_named_killed(const Suspect& lost) { return !lost.hung && lost.signal > 0; }

/// how_it_ended() after the title, which is not said twice.
std::string more_on_its_end(const Suspect& lost) {
  return is_named_killed(lost) ? format("this was {}", age_of(lost)) : how_it_ended(lost);
}

/// "; the kernel's out-of-memory killer ended ..."; empty if it did not.
std::string oom_clause(const Run& run, const Suspect& lost) {
  const std::string words = hang::oom_words(run, lost.process->rank);
  return words.empty() ? std::string{} : "; " + words;
}

/// "this was 12.3 s after its recording began, on host n0; the command ended with status 1"
std::string cause_of(const Run& run, const Suspect& lost) {
  std::string text = more_on_its_end(lost);
  if (const std::string_view host = run.text(lost.process->host); !host.empty()) text += format(", on host {}", host);
  text += oom_clause(run, lost);
  if (const auto status = run.metadata("exit_status"); !status.empty())
    text += format("; the command ended with status {}", status);
  return text;
}

std::string evidence_for(const Run& run, const Suspect& lost, std::span<const Suspect> suspects) {
  std::string text = more_on_its_end(lost) + oom_clause(run, lost);
  if (lost.frontier->first) {
    text += format("; it never joined an operation that rank {} had started (it missed {} in all)",
                   lost.frontier->first->peer.value, counted(lost.frontier->missed, "operation"));
  } else if (lost.frontier->unfinished > 0) {
    text += format("; it never finished {}", counted(lost.frontier->unfinished, "operation"));
  }
  if (lost.steps_behind > 0)
    text += format("; it finished {} than its peers", counted(lost.steps_behind, "fewer step"));
  std::vector<RankId> others;
  for (const Suspect& suspect : suspects) {
    if (suspect.process != lost.process) others.push_back(suspect.process->rank);
  }
  std::ranges::sort(others);
  if (!others.empty()) text += format("; {} also ended early or with an error", ranks_text(others));
  return text;
}

/// "was lost", or what is known to have happened.
std::string fate_of(const Suspect& lost) {
  if (lost.hung) return "hung";
  return is_named_killed(lost) ? format("was killed by {}", hang::signal_words(lost.signal)) : "was lost";
}

/// Without any step the job died while it started: then the moment says more than the place.
std::string title_of(const Suspect& lost, const Section<StepsSection>& steps, const std::optional<std::int64_t>& step) {
  const std::uint32_t rank = lost.process->rank.value;
  const std::string fate = fate_of(lost);
  if (step) return format("rank {} {} in step {}", rank, fate, *step);
  if (steps) return format("rank {} {}", rank, fate);
  return format("rank {} {} {}, before any step", rank, fate, age_of(lost));
}

Finding lost_finding(const Run& run, const Section<StepsSection>& steps, const Suspect& lost,
                     std::span<const Suspect> suspects) {
  Finding finding;
  finding.id = finding_id::rank_lost;
  finding.severity = FindingSeverity::critical;
  finding.rank = lost.process->rank;
  finding.step = step_of_loss(steps, lost);
  if (lost.frontier->first) finding.missed_at = lost.frontier->first->started;
  finding.title = title_of(lost, steps, finding.step);
  finding.evidence = evidence_for(run, lost, suspects);
  finding.cause = cause_of(run, lost);
  finding.advice = hang::oom_advice(run, lost.process->rank);
  if (finding.advice.empty())
    finding.advice = format(
        "Look at the last lines of rank {}'s log and at the kernel log of its host (out of memory, hardware error); "
        "checkpoint often enough to restart.",
        lost.process->rank.value);
  return finding;
}

/// Nobody was missed by the others, so nobody is blamed; who recorded the last event first is only a hint.
Finding stopped_finding(const Section<StepsSection>& steps, std::span<const Suspect> suspects) {
  const Suspect& first = hang::root_cause(suspects, Ends::comparable);
  Finding finding;
  finding.id = finding_id::job_stopped;
  finding.severity = FindingSeverity::major;
  finding.step = step_of_loss(steps, first);
  finding.title = "all ranks stopped without an orderly exit";
  finding.evidence =
      format("the recordings of all {} ranks break off at the same point of the program; that of rank {} ends first",
             suspects.size(), first.process->rank.value);
  finding.advice = "Look in the scheduler's log for a time limit, a cancelled job or a signal from the launcher.";
  return finding;
}

/// Whoever stops a job knows it; who did not finds the reason in what sent the signal.
Finding asked_finding(const Run& run, const Section<StepsSection>& steps, std::span<const Suspect> suspects) {
  Finding finding;
  const std::string_view signal = run.metadata("stopped_by");
  finding.id = finding_id::job_stopped;
  finding.severity = FindingSeverity::minor;
  finding.step = step_of_loss(steps, hang::root_cause(suspects, Ends::comparable));
  finding.title = format("the job was stopped by {}", signal);
  finding.evidence = format("the recorder received {} and passed it on; {} then ended", signal,
                            suspects.size() == 1 ? "the only rank" : format("all {} ranks", suspects.size()));
  finding.advice = "If nobody stopped the job, look in the scheduler's log for a time limit or a cancellation.";
  return finding;
}

/// The root of a job that hung until it was ended, by whomever; null if that is a guess.
const HangRoot* root_of_hang(const HangReport& report) {
  if (report.verdict != HangVerdict::hang || report.roots.empty()) return nullptr;
  const HangRoot& root = report.roots.front();
  return root.certainty == HangCertainty::guess ? nullptr : &root;
}

/// "the job hung: rank 1 never reached all_reduce 3 of group dp (step 5)"
std::string title_of_hang(const HangRoot& root) {
  return format("the job hung: {}{}", hang_clause(root), root.step ? format(" (step {})", *root.step) : "");
}

/// When the peers of these ranks began the first operation that one of them never began.
std::optional<RunTime> first_missed_by(const Run& run, std::span<const RankId> ranks) {
  std::optional<RunTime> first;
  for (const hang::Frontier& frontier : hang::comm_frontiers(run))
    if (frontier.first && std::ranges::find(ranks, frontier.rank) != ranks.end())
      first = std::min(first.value_or(frontier.first->started), frontier.first->started);
  return first;
}

/// Replaces a finding by what the verb `hang` says. How the processes ended stays, as the end of the evidence.
void replace_by_hang(const Run& run, const HangRoot& root, Finding& stopped) {
  stopped.severity = FindingSeverity::critical;
  if (root.ranks.size() == 1) stopped.rank = root.ranks.front();
  if (root.step) stopped.step = root.step;
  stopped.title = title_of_hang(root);
  std::string evidence = root.evidence;
  if (!root.stack.empty()) evidence += format("; its stack ends at {}", root.stack.back());
  stopped.evidence = format("{}; {}", evidence, stopped.cause.empty() ? stopped.evidence : stopped.cause);
  stopped.cause.clear();  // the verdict shows the advice instead
  stopped.advice = root.advice;
  stopped.missed_at = first_missed_by(run, root.ranks);
}

/// Whoever ended the job may have done so because it hung.
void add_hang(const Run& run, const hang::EndsOfRun& ends, std::vector<Finding>& findings) {
  const auto stopped = std::ranges::find_if(findings, [&](const Finding& finding) {
    const bool hung_rank = finding.id == finding_id::rank_lost && finding.rank && ends.hung(*finding.rank);
    return hung_rank || finding.id == finding_id::job_stopped;
  });
  if (stopped == findings.end()) return;
  const HangReport report = hang::judge_ended(run, ends, findings, 0);
  const HangRoot* const root = root_of_hang(report);
  if (root == nullptr) return;
  const bool same_rank =
      stopped->id == finding_id::job_stopped || std::ranges::find(root->ranks, *stopped->rank) != root->ranks.end();
  if (same_rank) replace_by_hang(run, *root, *stopped);
}

/// The others end because a rank reported a problem, and do not say more than it.
void add_reported(const HangRoot& root, Finding& lost) {
  lost.rank = root.ranks.front();
  if (root.step) lost.step = root.step;
  lost.title = format("{}{}", hang_clause(root), root.step ? format(" in step {}", *root.step) : "");
  lost.evidence = root.evidence;
  lost.cause.clear();
  lost.advice = root.advice;
  lost.missed_at.reset();  // it was that of the rank which was lost
}

/// "rank 3 left no recording"
std::string left_nothing(const AbsentRanks& absent) {
  return format("{} left no recording", ranks_text(absent.ranges));
}

/// Before the first step a rank that left no recording is as likely the cause as one that stopped, so both are named.
Finding lost_at_start(std::span<const Suspect> suspects, const AbsentRanks& absent, Ends ends) {
  // Whoever exited with an error had noticed that another was gone.
  std::vector<Suspect> vanished(suspects.begin(), suspects.end());
  std::erase_if(vanished, [](const Suspect& suspect) { return suspect.process->ending != Ending::vanished; });
  const bool any_vanished = !vanished.empty();
  const Suspect& first = hang::root_cause(any_vanished ? vanished : suspects, ends);
  const std::uint32_t rank = first.process->rank.value;
  Finding finding;
  finding.id = finding_id::lost_at_start;
  finding.severity = FindingSeverity::critical;
  finding.rank = any_vanished ? first.process->rank : absent.first();
  finding.title =
      any_vanished ? format("rank {} vanished {}, before any step, and {}", rank, age_of(first), left_nothing(absent))
                   : format("{}, and the others ended with errors before any step", left_nothing(absent));
  finding.evidence =
      format("{}rank {}: {}", ends == Ends::comparable && suspects.size() > 1 ? "the first to end was " : "", rank,
             how_it_ended(first));
  std::vector<RankId> others;
  for (const Suspect& suspect : suspects)
    if (suspect.process != first.process) others.push_back(suspect.process->rank);
  std::ranges::sort(others);
  if (!others.empty()) finding.evidence += format("; {} also ended early or with an error", ranks_text(others));
  finding.advice = format("Look at the log of {} first, then at that of {}: what failed during startup?",
                          any_vanished ? format("rank {}", rank) : format("rank {}", absent.first().value),
                          any_vanished ? format("rank {}", absent.first().value) : format("rank {}", rank));
  return finding;
}

/// An unreadable file does not say which rank wrote it, and may be of a process without a rank.
std::string_view why_absent(std::int64_t ranks, std::uint64_t unreadable_files) {
  if (unreadable_files == 0) return ranks == 1 ? "was not recorded" : "were not recorded";
  return std::cmp_greater_equal(unreadable_files, ranks) ? "cannot be read" : "were not recorded or cannot be read";
}

Finding missing_finding(const Run& run, const AbsentRanks& absent) {
  const std::int64_t world = run.info().world_size;
  Finding finding;
  finding.id = finding_id::ranks_missing;
  finding.severity = FindingSeverity::major;
  const std::uint64_t unreadable = run.quality().of(Counter::segments_unreadable);
  finding.title = format("{} (of {}) {}", ranks_text(absent.ranges), world, why_absent(absent.count, unreadable));
  finding.evidence =
      format("{}; {}", only_recorded_text(std::ssize(run.ranks()), world, unreadable),
             run.ranks().size() == 1 ? "without the others, waiting cannot be distinguished from transfer"
                                     : "waits are lower bounds, and a missing rank may be the one that is late");
  if (absent.count == 1) finding.rank = absent.first();
  finding.subject = ranks_text(absent.ranges);
  finding.advice = unreadable > 0
                       ? "DATA QUALITY (--full) names each segment file that cannot be read, and the reason; "
                         "make these files readable, or copy the recording again."
                       : advice_for(Wanted::absent_ranks, run.info().source);
  return finding;
}

}  // namespace

std::vector<Finding> find_lost_ranks(const Run& run, const Section<StepsSection>& steps, const ClockTrust& clocks) {
  const hang::EndsOfRun ends{run, clocks};
  std::vector<Finding> findings = find_lost_ranks(run, steps, clocks, ends);
  add_hang(run, ends, findings);
  const auto lost = std::ranges::find(findings, finding_id::rank_lost, &Finding::id);
  if (lost == findings.end()) return findings;
  if (const auto reported = hang::reported_root(run)) add_reported(*reported, *lost);
  return findings;
}

std::vector<Finding> find_lost_ranks(const Run& run, const Section<StepsSection>& steps, const ClockTrust& clocks,
                                     const hang::EndsOfRun& seen) {
  std::vector<Finding> findings;
  const std::vector<hang::Frontier> frontiers = hang::comm_frontiers(run);
  const std::vector<Suspect> suspects = hang::suspects_of(run, steps, frontiers, seen);
  const AbsentRanks absent = absent_ranks(run);
  const Ends ends = clocks.comparable(run.ranks()) ? Ends::comparable : Ends::unrelated;
  if (absent.count > 0 && !steps && !suspects.empty()) {
    findings.push_back(lost_at_start(suspects, absent, ends));
  } else if (hang::was_asked_to_end(run, suspects, ends)) {
    findings.push_back(asked_finding(run, steps, suspects));
  } else if (hang::stopped_together(run, suspects)) {
    findings.push_back(stopped_finding(steps, suspects));
  } else if (!suspects.empty()) {
    const Suspect& lost = hang::first_lost(suspects, seen, ends);
    if (hang::was_needed(run, lost, frontiers)) findings.push_back(lost_finding(run, steps, lost, suspects));
  }
  if (absent.count > 0) findings.push_back(missing_finding(run, absent));
  return findings;
}

}  // namespace rankscope::analyzer
