#include "alignment/unpaired_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "collectives/comm_ops.h"
#include "collectives/thread_moments.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "steps/step_marks.h"

namespace rankscope::analyzer {
namespace {

struct TaggedCall {
  bool sends = false;
  UnpairedCall call;
};
using CallsOfRank = std::vector<TaggedCall>;  // by start
using CallsByRank = std::map<RankId, CallsOfRank>;

bool is_unpaired(const Run& run, const Collective& row) {
  return row.peer < 0 && row.state == CommState::finished && is_point_to_point(run.text(row.op)) && row.lane.is_set();
}

/// What is known of the threads that made such calls.
class Threads {
 public:
  explicit Threads(const Run& run) : run_(run) {}

  /// Nothing for calls on lanes that are no threads of the program.
  [[nodiscard]] std::optional<TaggedCall> call_of(std::uint32_t row) {
    const Collective& part = run_.collectives()[row];
    const ThreadMoments* const moments = moments_of(part.lane);
    if (moments == nullptr) return std::nullopt;
    const RunTime free_until = moments->free_until({part.started, part.finished});
    return TaggedCall{is_send(run_.text(part.op)),
                      {row, ns_of(part.started), ns_of(free_until), ns_of(part.finished), part.bytes}};
  }

 private:
  const ThreadMoments* moments_of(LaneId id) {
    const auto [known, added] = moments_.try_emplace(id);
    const Lane& lane = run_.lane(id);
    if (added && is_program_thread(run_, lane)) known->second.emplace(run_, lane);
    return known->second ? &*known->second : nullptr;
  }

  const Run& run_;
  std::map<LaneId, std::optional<ThreadMoments>> moments_;
};

CallsByRank calls_by_rank(const Run& run) {
  CallsByRank calls;
  Threads threads{run};
  for (std::uint32_t row = 0; row < run.collectives().size(); ++row) {
    if (!is_unpaired(run, run.collectives()[row])) continue;
    if (const auto call = threads.call_of(row)) calls[run.collectives()[row].rank].push_back(*call);
  }
  for (auto& [rank, own] : calls)
    std::ranges::stable_sort(own, {}, [](const TaggedCall& tagged) { return tagged.call.start_ns; });
  return calls;
}

/// The calls of all ranks in one step.
using StepCalls = std::map<RankId, CallsOfRank>;

/// Those of one rank, by step.
std::map<std::int64_t, CallsOfRank> calls_by_step(std::span<const TaggedCall> calls, std::span<const StepMark> marks) {
  std::map<std::int64_t, CallsOfRank> steps;
  for (const StepMark& mark : marks) {
    if (mark.cut) continue;
    CallsOfRank& own = steps[mark.index];
    const auto start = [](const TaggedCall& tagged) { return at(tagged.call.start_ns); };
    const auto first = std::ranges::lower_bound(calls, mark.time.begin, {}, start);
    own.assign(first, std::ranges::lower_bound(first, calls.end(), mark.time.end, {}, start));
  }
  return steps;
}

/// Steps that all ranks have marked.
std::vector<StepCalls> steps_of(const Run& run, const CallsByRank& calls) {
  std::map<std::int64_t, StepCalls> steps;
  for (const auto& [rank, own] : calls) {
    const std::vector<StepMark> marks = step_marks(run, rank, MarkSource::step_spans);
    if (marks.empty()) return {calls};
    for (auto& [index, in_step] : calls_by_step(own, marks)) steps[index][rank] = std::move(in_step);
  }
  std::vector<StepCalls> complete;
  for (auto& [index, step] : steps)
    if (step.size() == calls.size()) complete.push_back(std::move(step));
  return complete;
}

/// Which calls the ranks make, in their order.
using Pattern = std::vector<std::pair<RankId, bool>>;

Pattern pattern_of(const StepCalls& step) {
  Pattern pattern;
  for (const auto& [rank, calls] : step)
    for (const TaggedCall& tagged : calls) pattern.emplace_back(rank, tagged.sends);
  return pattern;
}

/// The steps with the pattern that most of them have.
std::vector<StepCalls> usual_steps(std::vector<StepCalls> steps) {
  std::map<Pattern, std::vector<StepCalls>> by_pattern;
  for (StepCalls& step : steps) {
    const Pattern pattern = pattern_of(step);
    by_pattern[pattern].push_back(std::move(step));
  }
  const auto most =
      std::ranges::max_element(by_pattern, {}, [](const auto& of_pattern) { return of_pattern.second.size(); });
  return most == by_pattern.end() ? std::vector<StepCalls>{} : std::move(most->second);
}

void add_call(RankId rank, std::size_t place, const UnpairedCall& call, std::vector<CallSite>& sites) {
  if (place == sites.size()) sites.push_back({rank, {}});
  sites[place].calls.push_back(call);
}

/// Adds the calls of one rank in all steps.
void add_sites(RankId rank, std::span<const StepCalls> steps, UnpairedCalls& result) {
  const std::size_t first_send = result.sends.size();
  const std::size_t first_receive = result.receives.size();
  for (const StepCalls& step : steps) {
    std::size_t sends = 0;
    std::size_t receives = 0;
    for (const TaggedCall& tagged : step.at(rank)) {
      if (tagged.sends)
        add_call(rank, first_send + sends++, tagged.call, result.sends);
      else
        add_call(rank, first_receive + receives++, tagged.call, result.receives);
    }
  }
}

}  // namespace

UnpairedCalls unpaired_calls(const Run& run) {
  UnpairedCalls result;
  const CallsByRank calls = calls_by_rank(run);
  for (const auto& [rank, own] : calls) result.all += own.size();
  if (calls.empty()) return result;
  if (std::cmp_less(run.ranks().size(), run.info().world_size)) {
    result.why = format("only {} of {} ranks were recorded", run.ranks().size(), run.info().world_size);
    return result;
  }
  const std::vector<StepCalls> steps = usual_steps(steps_of(run, calls));
  if (steps.empty()) result.why = "no step was recorded completely on all ranks";
  for (const auto& [rank, own] : calls) add_sites(rank, steps, result);
  return result;
}

}  // namespace rankscope::analyzer
