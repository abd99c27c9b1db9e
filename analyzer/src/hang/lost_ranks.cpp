#include "hang/parts.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "collectives/comm_ops.h"
#include "collectives/find.h"
#include "hang/absent_ranks.h"
#include "hang/process_ends.h"
#include "hang/run_progress.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "steps/find.h"
#include "words/source_advice.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

// How far each rank came in the collectives of its groups.

/// An operation that peers started and a rank did not.
struct MissedOperation {
  RankId peer;      ///< who started it first
  RunTime started;  ///< on the peer's clock
};

/// Progress of one rank through its groups.
struct Frontier {
  RankId rank;
  std::int64_t missed = 0;               ///< operations that a peer started and this rank did not
  std::int64_t unfinished = 0;           ///< operations that it started or enqueued and did not finish
  std::optional<MissedOperation> first;  ///< the earliest of the missed ones
};

/// The rows of one group, by (rank, sequence) as Run sorts them.
struct StartsOfGroup {
  std::vector<std::vector<const Collective*>> started;  // per present rank, in order
};

std::vector<StartsOfGroup> progress(const Run& run, std::vector<Frontier>& frontiers) {
  std::vector<StartsOfGroup> groups(run.groups().size());
  for (StartsOfGroup& group : groups) group.started.resize(run.ranks().size());
  for (const Collective& collective : run.collectives()) {
    if (!collective.rank.is_set() || !is_shared(run, collective)) continue;
    if (is_point_to_point(run.text(collective.op))) continue;
    const std::size_t place = run.place_of(collective.rank);
    if (collective.state != CommState::finished) ++frontiers[place].unfinished;
    if (collective.state != CommState::enqueued) groups[collective.group.index()].started[place].push_back(&collective);
  }
  return groups;
}

/// The peers' start of the first operation that a rank with `done` started ones has missed.
std::optional<MissedOperation> first_missed(const StartsOfGroup& group, std::size_t done) {
  std::optional<MissedOperation> first;
  for (const auto& started : group.started) {
    if (started.size() <= done) continue;
    const Collective& next = *started[done];
    if (!first || next.started < first->started) first = MissedOperation{next.rank, next.started};
  }
  return first;
}

void compare(const Run& run, const Group& members, const StartsOfGroup& group, std::vector<Frontier>& frontiers) {
  std::size_t farthest = 0;
  for (const auto& started : group.started) farthest = std::max(farthest, started.size());
  for (std::size_t place = 0; place < frontiers.size(); ++place) {
    const std::size_t done = group.started[place].size();
    if (std::ranges::find(members.members, run.ranks()[place]) == members.members.end() || done == farthest) continue;
    Frontier& own = frontiers[place];
    own.missed += static_cast<std::int64_t>(farthest - done);
    const std::optional<MissedOperation> missed = first_missed(group, done);
    if (missed && (!own.first || missed->started < own.first->started)) own.first = missed;
  }
}

/// One per present rank, ascending. Send and receive do not count: they have no common order.
std::vector<Frontier> comm_frontiers(const Run& run) {
  std::vector<Frontier> frontiers;
  for (const RankId rank : run.ranks()) {
    frontiers.emplace_back();
    frontiers.back().rank = rank;
  }
  const std::vector<StartsOfGroup> groups = progress(run, frontiers);
  for (std::size_t i = 0; i < groups.size(); ++i) compare(run, run.groups()[i], groups[i], frontiers);
  return frontiers;
}

bool ended_badly(const Process& process) {
  switch (process.ending) {
    case Ending::vanished:
      return true;
    case Ending::exited:
      return process.exit_status != 0;
    case Ending::unknown:
      return false;
  }
  return false;
}

/// How many steps the rank finished; steps that the recording lacks count as none.
std::int64_t steps_done(const Section<StepsSection>& steps, RankId rank) {
  if (!steps) return 0;
  return std::ranges::count(windows_of(*steps, rank), true, &StepWindow::complete);
}

struct Suspect {
  const Process* process = nullptr;
  const Frontier* frontier = nullptr;
  std::int64_t steps_behind = 0;
};

std::vector<Suspect> suspects_of(const Run& run, const Section<StepsSection>& steps,
                                 std::span<const Frontier> frontiers) {
  std::int64_t farthest = 0;
  for (const Frontier& frontier : frontiers) farthest = std::max(farthest, steps_done(steps, frontier.rank));
  std::vector<Suspect> suspects;
  for (const Frontier& frontier : frontiers) {
    const Process& process = run.process_of(frontier.rank);
    const std::int64_t behind = farthest - steps_done(steps, frontier.rank);
    // A clean exit counts too if the others went on to operations that needed this rank, unless its file is damaged:
    // then the operations are missing from the recording, not from the run.
    const bool damaged = run.quality().of(Counter::chunks_corrupt) + run.quality().of(Counter::segment_cut) > 0;
    const bool left_early = process.ending == Ending::exited && behind > 0 && frontier.missed > 0 && !damaged;
    if (ended_badly(process) || left_early) suspects.push_back({&process, &frontier, behind});
  }
  return suspects;
}

/// Peers went on to what it never came to.
bool held_up_others(const Suspect& suspect) { return suspect.frontier->missed > 0 || suspect.steps_behind > 0; }

/// May the ends of the recordings be put in order?
enum class Ends : std::uint8_t { comparable, unrelated };

/// The one that stopped first. Whoever missed operations that its peers started comes before all who did not: those
/// peers were waiting for it.
const Suspect& root_cause(std::span<const Suspect> suspects, Ends ends) {
  const auto order = [ends](const Suspect& suspect) {
    const bool last_to_arrive = held_up_others(suspect);
    const std::int64_t first =
        ends == Ends::comparable ? ns_of(suspect.process->recorded.end) : -suspect.frontier->missed;
    return std::tuple(!last_to_arrive, first, suspect.process->rank);
  };
  return *std::ranges::min_element(suspects, {}, order);
}

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

/// On the process's own clock.
std::string age_of(const Process& process) {
  return duration_text((process.recorded.end - process.recorded.begin).count()) + " after it began";
}

std::string how_it_ended(const Process& process) {
  if (process.ending == Ending::vanished)
    return format("its recording just stops {} (the process was killed, crashed or called _exit)", age_of(process));
  return format("it exited with status {}, {}", process.exit_status, age_of(process));
}

std::string evidence_for(const Suspect& lost, std::span<const Suspect> suspects) {
  std::string text = how_it_ended(*lost.process);
  if (lost.frontier->first) {
    text += format("; it never joined an operation that rank {} had started (it missed {} in all)",
                   lost.frontier->first->peer.value, counted(lost.frontier->missed, "operation"));
  } else if (lost.frontier->unfinished > 0) {
    text += format("; it never finished {}", counted(lost.frontier->unfinished, "operation"));
  }
  if (lost.steps_behind > 0)
    text += format("; it finished {} fewer than its peers", counted(lost.steps_behind, "step"));
  std::vector<RankId> others;
  for (const Suspect& suspect : suspects) {
    if (suspect.process != lost.process) others.push_back(suspect.process->rank);
  }
  std::ranges::sort(others);
  if (!others.empty()) text += format("; {} also ended early or with an error", ranks_text(others));
  return text;
}

/// "was lost", or what is known to have happened.
std::string fate_of(const Run& run, const ClockTrust& clocks, const Process& process) {
  const hang::ProcessEnds ends = hang::process_ends_of(run);
  if (hang::hung_before_it_ended(run, clocks, process.rank)) return "hung";
  const hang::ProcessEnd* const end = hang::find_end(ends, run, process);
  return end != nullptr && end->signal > 0 ? format("was killed by {}", hang::signal_words(end->signal)) : "was lost";
}

/// Without any step the job died while it started: then the moment says more than the place.
std::string title_of(const Suspect& lost, std::string_view fate, const Section<StepsSection>& steps,
                     const std::optional<std::int64_t>& step) {
  const std::uint32_t rank = lost.process->rank.value;
  if (step) return format("rank {} {} in step {}", rank, fate, *step);
  if (steps) return format("rank {} {}", rank, fate);
  return format("rank {} {} {}, before any step", rank, fate, age_of(*lost.process));
}

/// Who hung while peers waited for it, since these only gave up waiting. Else the first whose end was seen, if those of
/// all were, or of all whom peers waited for; else as root_cause() says.
const Suspect& first_lost(const Run& run, const ClockTrust& clocks, std::span<const Suspect> suspects, Ends ends) {
  const hang::ProcessEnds seen = hang::process_ends_of(run);
  const auto of_rank = [&](RankId rank) -> const Suspect& {
    return *std::ranges::find_if(suspects, [rank](const Suspect& suspect) { return suspect.process->rank == rank; });
  };
  std::vector<Suspect> hung(suspects.begin(), suspects.end());
  std::erase_if(hung, [&](const Suspect& suspect) {
    return !held_up_others(suspect) || !hang::hung_before_it_ended(run, clocks, suspect.process->rank);
  });
  if (!hung.empty()) return of_rank(root_cause(hung, ends).process->rank);
  const auto first_of = [&](bool only_held_up_others) {
    std::vector<RankId> ranks;
    for (const Suspect& suspect : suspects)
      if (!only_held_up_others || held_up_others(suspect)) ranks.push_back(suspect.process->rank);
    return ranks.empty() ? std::nullopt : hang::first_bad_end(seen, run, clocks, ranks);
  };
  auto first = first_of(false);
  if (!first) first = first_of(true);
  return first ? of_rank(*first) : root_cause(suspects, ends);
}

/// All vanished at the same point: the job was stopped as a whole, by a time limit for example.
bool stopped_together(std::span<const Suspect> suspects, std::size_t ranks) {
  if (ranks < 2 || suspects.size() < ranks) return false;
  return std::ranges::all_of(suspects, [](const Suspect& suspect) {
    return suspect.process->ending == Ending::vanished && suspect.frontier->missed == 0 && suspect.steps_behind == 0;
  });
}

/// All ends were seen, and all ranks but one were asked to end: that one ended by itself, and they with it.
bool one_ended_by_itself(const Run& run, std::span<const Suspect> suspects) {
  const hang::ProcessEnds seen = hang::process_ends_of(run);
  std::size_t asked = 0;
  for (const Suspect& suspect : suspects) {
    const hang::ProcessEnd* const end = hang::find_end(seen, run, *suspect.process);
    if (end == nullptr) return false;
    asked += hang::asks_to_end(end->signal) ? 1 : 0;
  }
  return asked + 1 == suspects.size();
}

constexpr nanoseconds one_end{1'000'000'000};  // a signal reaches all processes of a job within this

/// The recorder was asked to end the job and all ranks ended then, whichever of them was the first: none before it was
/// asked, or, where that was not recorded, all at once.
bool was_asked_to_end(const Run& run, std::span<const Suspect> suspects, Ends ends) {
  if (!run.metadata("stopped_by").starts_with("SIG") || ends != Ends::comparable) return false;
  if (suspects.empty() || suspects.size() < run.ranks().size()) return false;
  const auto [first, last] =
      std::ranges::minmax_element(suspects, {}, [](const Suspect& suspect) { return suspect.process->recorded.end; });
  const auto asked = number_from<std::int64_t>(run.metadata("stopped_at_unix_ns"), {.least = 1});
  RunTime began_to_end = last->process->recorded.end;
  if (asked && run.info().origin_unix_ns != 0)
    began_to_end = std::min(began_to_end, at(*asked - run.info().origin_unix_ns));
  return first->process->recorded.end >= began_to_end - one_end;
}

/// A rank that only ended badly after everything was done has cost nobody anything.
bool was_needed(const Run& run, const Suspect& suspect, std::span<const Frontier> frontiers) {
  const bool open_work =
      std::ranges::any_of(frontiers, [](const Frontier& frontier) { return frontier.unfinished > 0; });
  return suspect.frontier->missed > 0 || suspect.steps_behind > 0 || open_work || run.ranks().size() == 1;
}

Finding lost_finding(const Run& run, const ClockTrust& clocks, const Section<StepsSection>& steps, const Suspect& lost,
                     std::span<const Suspect> suspects) {
  Finding finding;
  finding.id = finding_id::rank_lost;
  finding.severity = FindingSeverity::critical;
  finding.rank = lost.process->rank;
  finding.step = step_of_loss(steps, lost);
  finding.title = title_of(lost, fate_of(run, clocks, *lost.process), steps, finding.step);
  finding.evidence = evidence_for(lost, suspects);
  finding.advice = format(
      "Look at the last lines of rank {}'s log and at the kernel log of its host (out of memory, hardware error); "
      "checkpoint often enough to restart.",
      lost.process->rank.value);
  return finding;
}

/// Nobody was missed by the others, so nobody is blamed; who recorded the last event first is only a hint.
Finding stopped_finding(const Section<StepsSection>& steps, std::span<const Suspect> suspects) {
  const Suspect& first = root_cause(suspects, Ends::comparable);
  Finding finding;
  finding.id = finding_id::job_stopped;
  finding.severity = FindingSeverity::major;
  finding.step = step_of_loss(steps, first);
  finding.title = "all ranks stopped without an orderly exit";
  finding.evidence =
      format("{} of {} recordings just stop at the same point of the program; the recording of rank {} ends first",
             suspects.size(), suspects.size(), first.process->rank.value);
  finding.advice = "Look for a time limit, a cancelled job or a signal from the launcher in the scheduler's log.";
  return finding;
}

/// Whoever stops a job knows it; who did not finds the reason in what sent the signal.
Finding asked_finding(const Run& run, const Section<StepsSection>& steps, std::span<const Suspect> suspects) {
  Finding finding;
  const std::string_view signal = run.metadata("stopped_by");
  finding.id = finding_id::job_stopped;
  finding.severity = FindingSeverity::minor;
  finding.step = step_of_loss(steps, root_cause(suspects, Ends::comparable));
  finding.title = format("the job was stopped by {}", signal);
  finding.evidence = format("the recorder received {} and passed it on; {} then ended", signal,
                            suspects.size() == 1 ? "the only rank" : format("all {} ranks", suspects.size()));
  finding.advice = "If nobody stopped it, look for a time limit or a cancelled job in the scheduler's log.";
  return finding;
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
  const Suspect& first = root_cause(any_vanished ? vanished : suspects, ends);
  const std::uint32_t rank = first.process->rank.value;
  Finding finding;
  finding.id = finding_id::lost_at_start;
  finding.severity = FindingSeverity::critical;
  finding.rank = any_vanished ? first.process->rank : absent.first();
  finding.title = any_vanished ? format("rank {} vanished {}, before any step, and {}", rank, age_of(*first.process),
                                        left_nothing(absent))
                               : format("{}, and the others ended with errors before any step", left_nothing(absent));
  finding.evidence =
      format("{}rank {}: {}", ends == Ends::comparable && suspects.size() > 1 ? "the first to end was " : "", rank,
             how_it_ended(*first.process));
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

Finding missing_finding(const Run& run, const AbsentRanks& absent) {
  const std::int64_t world = run.info().world_size;
  Finding finding;
  finding.id = finding_id::ranks_missing;
  finding.severity = FindingSeverity::major;
  finding.title =
      format("{} (of {}) {} not recorded", ranks_text(absent.ranges), world, absent.count == 1 ? "was" : "were");
  finding.evidence =
      format("{}; {}", only_recorded_text(std::ssize(run.ranks()), world),
             run.ranks().size() == 1 ? "without the others, waiting cannot be distinguished from transfer"
                                     : "waits are lower bounds, and a missing rank may be the one that is late");
  if (absent.count == 1) finding.rank = absent.first();
  finding.subject = ranks_text(absent.ranges);
  finding.advice = advice_for(Wanted::absent_ranks, run.info().source);
  return finding;
}

}  // namespace

std::vector<Finding> find_lost_ranks(const Run& run, const Section<StepsSection>& steps, const ClockTrust& clocks) {
  std::vector<Finding> findings;
  const std::vector<Frontier> frontiers = comm_frontiers(run);
  const std::vector<Suspect> suspects = suspects_of(run, steps, frontiers);
  const AbsentRanks absent = absent_ranks(run);
  const Ends ends = clocks.comparable(run.ranks()) ? Ends::comparable : Ends::unrelated;
  if (absent.count > 0 && !steps && !suspects.empty()) {
    findings.push_back(lost_at_start(suspects, absent, ends));
  } else if (was_asked_to_end(run, suspects, ends)) {
    findings.push_back(asked_finding(run, steps, suspects));
  } else if (stopped_together(suspects, run.ranks().size()) && !one_ended_by_itself(run, suspects)) {
    findings.push_back(stopped_finding(steps, suspects));
  } else if (!suspects.empty()) {
    const Suspect& lost = first_lost(run, clocks, suspects, ends);
    if (was_needed(run, lost, frontiers)) findings.push_back(lost_finding(run, clocks, steps, lost, suspects));
  }
  if (absent.count > 0) findings.push_back(missing_finding(run, absent));
  return findings;
}

}  // namespace rankscope::analyzer
