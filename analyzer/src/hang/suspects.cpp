#include "hang/suspects.h"

#include <algorithm>
#include <tuple>

#include "collectives/comm_ops.h"
#include "collectives/find.h"
#include "hang/run_progress.h"
#include "rankscope/core/model/quality.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"
#include "steps/find.h"

namespace rankscope::analyzer::hang {
namespace {

constexpr nanoseconds one_end{1'000'000'000};                     // a signal reaches all processes of a job within this
constexpr std::int64_t largest_sequence = std::int64_t{1} << 53;  // more is damage

/// The rows of one group, by (rank, sequence) as Run sorts them.
struct StartsOfGroup {
  std::vector<std::vector<const Collective*>> started;  // per present rank, in order
};

/// When a rank joined an operation; of an accelerator often only the call was seen.
RunTime joined_at(const Collective& collective) {
  return collective.state == CommState::enqueued ? collective.enqueued : collective.started;
}

/// True if the calls that are recorded need not begin with the first one, nor with the same one on all ranks.
bool lacks_early_calls(const Run& run) {
  return run.quality().of(Counter::events_thinned) + run.quality().of(Counter::events_without_sums) > 0;
}

std::vector<StartsOfGroup> starts_of(const Run& run, std::vector<Frontier>& frontiers) {
  std::vector<StartsOfGroup> groups(run.groups().size());
  for (StartsOfGroup& group : groups) group.started.resize(run.ranks().size());
  const bool thinned = lacks_early_calls(run);
  const FinishedCalls finished{run};
  for (const Collective& collective : run.collectives()) {
    if (!collective.rank.is_set() || !is_shared(run, collective)) continue;
    if (is_point_to_point(run.text(collective.op))) continue;
    if (thinned && !is_call_of_rank(run, collective)) continue;  // of a process that numbered its own
    const std::size_t place = run.place_of(collective.rank);
    if (!finished.has(collective)) ++frontiers[place].unfinished;
    if (collective.state != CommState::enqueued || run.has_accelerator(collective.rank))
      groups[collective.group.index()].started[place].push_back(&collective);
  }
  return groups;
}

/// The peers' start of the first operation that a rank with `done` started ones has missed.
std::optional<MissedOperation> first_missed(const StartsOfGroup& group, std::size_t done) {
  std::optional<MissedOperation> first;
  for (const auto& started : group.started) {
    if (started.size() <= done) continue;
    const Collective& next = *started[done];
    if (!first || joined_at(next) < first->started) first = MissedOperation{next.rank, joined_at(next)};
  }
  return first;
}

void compare_starts(const Run& run, const Group& members, const StartsOfGroup& group,
                    std::vector<Frontier>& frontiers) {
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

/// The operations of a group that all ranks know by their numbers.
class Numbered {
 public:
  /// Nothing if one has no number.
  static std::optional<Numbered> of(const StartsOfGroup& group) {
    Numbered all;
    for (const auto& started : group.started)
      for (const Collective* const one : started) {
        if (one->sequence < 0) return std::nullopt;
        all.first_ = std::min(all.first_, number_of(*one));
        all.end_ = std::max(all.end_, number_of(*one) + 1);
      }
    return all;
  }
  /// Behind the last one that a rank started; the first one that is recorded if nothing shows that it started any.
  [[nodiscard]] std::int64_t done_by(const std::vector<const Collective*>& started) const {
    std::int64_t done = first_;
    for (const Collective* const one : started) done = std::max(done, number_of(*one) + 1);
    return done;
  }
  [[nodiscard]] std::int64_t end() const { return end_; }

  static std::int64_t number_of(const Collective& one) { return std::min(one.sequence, largest_sequence); }

 private:
  std::int64_t first_ = largest_sequence;
  std::int64_t end_ = 0;
};

/// The peers' start of the first operation that a rank has missed.
std::optional<MissedOperation> first_missed_by_number(const StartsOfGroup& group, std::int64_t done) {
  const Collective* first = nullptr;
  for (const auto& started : group.started)
    for (const Collective* const one : started)
      if (Numbered::number_of(*one) >= done && (first == nullptr || joined_at(*one) < joined_at(*first))) first = one;
  return first == nullptr ? std::nullopt : std::optional{MissedOperation{first->rank, joined_at(*first)}};
}

/// Where old events were thinned out, how many operations are left of a rank says nothing; their numbers do.
void compare_numbers(const Run& run, const Group& members, const StartsOfGroup& group,
                     std::vector<Frontier>& frontiers) {
  const auto numbered = Numbered::of(group);
  if (!numbered) return;  // nobody can tell
  for (std::size_t place = 0; place < frontiers.size(); ++place) {
    const std::int64_t done = numbered->done_by(group.started[place]);
    if (std::ranges::find(members.members, run.ranks()[place]) == members.members.end() || done >= numbered->end())
      continue;
    Frontier& own = frontiers[place];
    own.missed += numbered->end() - done;
    const std::optional<MissedOperation> missed = first_missed_by_number(group, done);
    if (missed && (!own.first || missed->started < own.first->started)) own.first = missed;
  }
}

/// A signal that no launcher sends first: it ended this rank before the launcher ended the others.
bool was_killed_first(const Suspect& suspect) { return suspect.signal > 0 && !asks_to_end(suspect.signal); }

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

/// Peers went on to what it never reached.
bool held_up_others(const Suspect& suspect) { return suspect.frontier->missed > 0 || suspect.steps_behind > 0; }

/// All ends were seen, and all ranks but one were asked to end: that one ended by itself, and they with it.
bool one_ended_by_itself(std::span<const Suspect> suspects) {
  std::ptrdiff_t asked = 0;
  for (const Suspect& suspect : suspects) {
    if (!suspect.end_seen) return false;
    asked += asks_to_end(suspect.signal) ? 1 : 0;
  }
  return asked + 1 == std::ssize(suspects);
}

}  // namespace

std::vector<Frontier> comm_frontiers(const Run& run) {
  std::vector<Frontier> frontiers;
  for (const RankId rank : run.ranks()) {
    frontiers.emplace_back();
    frontiers.back().rank = rank;
  }
  const std::vector<StartsOfGroup> groups = starts_of(run, frontiers);
  const auto compare = lacks_early_calls(run) ? compare_numbers : compare_starts;
  for (std::size_t i = 0; i < groups.size(); ++i) compare(run, run.groups()[i], groups[i], frontiers);
  return frontiers;
}

std::vector<Suspect> suspects_of(const Run& run, const Section<StepsSection>& steps,
                                 std::span<const Frontier> frontiers, const EndsOfRun& ends) {
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
    if (!ended_badly(process) && !left_early) continue;
    const ProcessEnd* const end = ends.of(frontier.rank);
    const bool vanished = process.ending == Ending::vanished;
    suspects.push_back({.process = &process,
                        .frontier = &frontier,
                        .steps_behind = behind,
                        .signal = end != nullptr && vanished ? end->signal : 0,
                        .end_seen = end != nullptr,
                        .hung = ends.hung(frontier.rank),
                        .lived = ends.end_time(frontier.rank) - process.recorded.begin});
  }
  return suspects;
}

const Suspect& root_cause(std::span<const Suspect> suspects, Ends ends) {
  const auto order = [ends](const Suspect& suspect) {
    const bool last_to_arrive = held_up_others(suspect);
    const std::int64_t first =
        ends == Ends::comparable ? ns_of(suspect.process->recorded.end) : -suspect.frontier->missed;
    return std::tuple(!was_killed_first(suspect), !last_to_arrive, first, suspect.process->rank);
  };
  return *std::ranges::min_element(suspects, {}, order);
}

const Suspect& first_lost(std::span<const Suspect> suspects, const EndsOfRun& seen, Ends ends) {
  const auto of_rank = [&](RankId rank) -> const Suspect& {
    return *std::ranges::find_if(suspects, [rank](const Suspect& suspect) { return suspect.process->rank == rank; });
  };
  std::vector<Suspect> hung(suspects.begin(), suspects.end());
  std::erase_if(hung, [](const Suspect& suspect) { return !suspect.hung || !held_up_others(suspect); });
  if (!hung.empty()) return of_rank(root_cause(hung, ends).process->rank);
  std::vector<RankId> all;
  std::vector<RankId> waited_for;
  for (const Suspect& suspect : suspects) {
    all.push_back(suspect.process->rank);
    if (held_up_others(suspect)) waited_for.push_back(suspect.process->rank);
  }
  auto first = seen.first_bad(all);
  if (!first) first = seen.first_bad(waited_for);
  return first ? of_rank(*first) : root_cause(suspects, ends);
}

bool stopped_together(const Run& run, std::span<const Suspect> suspects) {
  if (run.ranks().size() < 2 || suspects.size() < run.ranks().size() || one_ended_by_itself(suspects)) return false;
  const auto killed_first = std::ranges::count_if(suspects, was_killed_first);
  if (killed_first > 0 && killed_first < std::ssize(suspects)) return false;
  return std::ranges::all_of(suspects, [](const Suspect& suspect) {
    return suspect.process->ending == Ending::vanished && suspect.frontier->missed == 0 && suspect.steps_behind == 0;
  });
}

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

bool was_needed(const Run& run, const Suspect& suspect, std::span<const Frontier> frontiers) {
  const bool open_work =
      std::ranges::any_of(frontiers, [](const Frontier& frontier) { return frontier.unfinished > 0; });
  return suspect.frontier->missed > 0 || suspect.steps_behind > 0 || open_work || run.ranks().size() == 1 ||
         was_killed_first(suspect);
}

}  // namespace rankscope::analyzer::hang
