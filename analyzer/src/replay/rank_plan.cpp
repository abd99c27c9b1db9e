#include "replay/rank_plan.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "rankscope/core/model/run.h"
#include "split/device_work.h"
#include "split/host_timeline.h"
#include "split/layers.h"

namespace rankscope::analyzer::replay {
namespace {

enum class Part : std::uint8_t { nothing, annotation, call, computes, copies, loads };

Part part_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::user:
      return Part::annotation;
    case SpanKind::forward:
    case SpanKind::backward:
    case SpanKind::optimizer:
    case SpanKind::op:
    case SpanKind::compute:
      return Part::computes;
    case SpanKind::memory:
      return Part::copies;
    case SpanKind::data:
      return Part::loads;
    case SpanKind::wait:
    case SpanKind::sync:
    case SpanKind::checkpoint:
    case SpanKind::comm:
    case SpanKind::api:
    case SpanKind::runtime:
      return Part::call;
    case SpanKind::step:
    case SpanKind::loader:
    case SpanKind::overhead:
    case SpanKind::python:
    case SpanKind::graph:
      break;
  }
  return Part::nothing;
}

Work work_in(Part part, HostRole role, Work outside) {
  if (part == Part::loads) return Work::data;
  if (role == HostRole::feeds_accelerator) return outside;
  if (part == Part::computes) return Work::compute;
  return part == Part::copies ? Work::memory : outside;
}

struct Open {
  RunTime end;
  Stretch outside;  // where the thread is again when this has ended
};

// A thread without any work for so long, in which another thread of its process ended something, waited for that one:
// PyTorch's backward thread runs while the main thread stands still, and nobody records that (as Lumos, MLSys 2025).
constexpr nanoseconds least_gap{100'000};

bool is_task(const Lane& lane, const Span& span) {
  return lane.kind == LaneKind::comm ? span.kind == SpanKind::comm : is_activity(span.kind);
}

bool is_member(const Run& run, const Span& span) {
  if (span.kind != SpanKind::comm) return false;
  if (span.collective == Span::no_collective) return true;
  const Collective& collective = run.collectives()[span.collective];
  return !collective.group.is_set() || is_shared(run, collective);
}

Task task_of(const Run& run, const Span& span) {
  Task task{run.id_of(span), span.time, {}, {}, is_member(run, span)};
  const auto links = run.links_to(LinkKind::launch, task.span);
  if (!links.empty()) {
    const Span& call = run.span(links.front().from);
    task.launched_on = call.lane;
    task.launched = call.time.begin;
  } else if (span.collective != Span::no_collective) {
    const Collective& collective = run.collectives()[span.collective];
    task.launched_on = collective.enqueued_on;
    task.launched = collective.enqueued;
  }
  return task;
}

std::vector<QueuePlan> queues_of(const Run& run, std::uint32_t process, TimeRange time) {
  std::vector<QueuePlan> queues;
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process || (lane.kind != LaneKind::stream && lane.kind != LaneKind::comm)) continue;
    QueuePlan queue{run.id_of(lane), {}};
    for (const Span& span : run.spans_of(lane))
      if (is_task(lane, span) && span.time.begin >= time.begin && span.time.begin < time.end)
        queue.tasks.push_back(task_of(run, span));
    if (!queue.tasks.empty()) queues.push_back(std::move(queue));
  }
  return queues;
}

/// The thread with the marks, and all that put something into a queue.
std::vector<LaneId> threads_of(const Run& run, LaneId main, const std::vector<QueuePlan>& queues) {
  std::set<LaneId> others;
  for (const QueuePlan& queue : queues)
    for (const Task& task : queue.tasks)
      if (task.launched_on.is_set() && run.lane(task.launched_on).process == run.lane(main).process)
        others.insert(task.launched_on);
  others.erase(main);
  std::vector<LaneId> threads{main};
  threads.insert(threads.end(), others.begin(), others.end());
  return threads;
}

// PyTorch's Gloo runs collectives on threads of its own, and torch.profiler records neither that the main thread
// launches them (by an operator of c10d) nor that it stands still until they have ended.

/// Calls on a thread that launch collectives, by begin.
std::vector<RunTime> launches_on(const Run& run, const Lane& lane) {
  std::vector<RunTime> launches;
  RunTime until = RunTime::min();
  for (const Span& span : run.spans_of(lane)) {
    if (span.time.begin < until || !run.text(span.name).starts_with("c10d::")) continue;
    launches.push_back(span.time.begin);
    until = span.time.end;
  }
  return launches;
}

/// The collectives of helper threads were launched in the order in which they begin.
void add_launches(std::vector<QueuePlan>& queues, LaneId main, const std::vector<RunTime>& launches) {
  std::vector<Task*> tasks;
  for (QueuePlan& queue : queues)
    for (Task& task : queue.tasks) tasks.push_back(&task);
  std::ranges::stable_sort(tasks, {}, [](const Task* task) { return task->time.begin; });
  auto next = launches.begin();
  for (Task* task : tasks) {
    if (next == launches.end()) return;
    if (task->launched_on.is_set() || *next > task->time.begin) continue;
    task->launched_on = main;
    task->launched = *next++;
  }
}

/// Collectives on threads that nothing else puts into the graph.
std::vector<QueuePlan> helper_queues(const Run& run, const RankPlan& plan) {
  std::vector<QueuePlan> queues;
  const Lane& main = run.lane(plan.threads.front().lane);
  for (const Lane& lane : run.lanes()) {
    const LaneId id = run.id_of(lane);
    if (lane.process != main.process || lane.kind != LaneKind::thread) continue;
    if (std::ranges::find(plan.threads, id, &ThreadPlan::lane) != plan.threads.end()) continue;
    QueuePlan queue{id, {}};
    for (const Span& span : run.spans_of(lane))
      if (is_member(run, span) && plan.time.contains(span.time.begin)) queue.tasks.push_back(task_of(run, span));
    if (!queue.tasks.empty()) queues.push_back(std::move(queue));
  }
  if (!queues.empty()) add_launches(queues, plan.threads.front().lane, launches_on(run, main));
  return queues;
}

std::vector<Block> blocks_of(const Run& run, const Lane& lane, TimeRange time, HostRole role) {
  std::vector<Block> blocks;
  RunTime until = time.begin;
  for (const Span& span : run.spans_of(lane)) {
    const bool member = role == HostRole::computes && is_member(run, span);
    if (!member && !is_blocked(run, span)) continue;
    // A thread that stands still at an edge of the steps does no work there, either.
    TimeRange inside = span.time;
    if (!member) inside = {std::max(inside.begin, until), std::min(inside.end, time.end)};
    if (inside.begin < until || inside.end > time.end || inside.begin >= inside.end) continue;
    blocks.push_back({inside, run.id_of(span), {}, {}, member});
    until = inside.end;
  }
  return blocks;
}

/// Stretches of at least `least_gap` in which a thread did nothing that was recorded.
std::vector<TimeRange> gaps_of(const ThreadPlan& thread, TimeRange time) {
  std::vector<TimeRange> gaps;
  RunTime since = time.begin;
  bool idle = true;
  const auto close = [&](RunTime now) {
    if (idle && now - since >= least_gap) gaps.push_back({since, now});
  };
  for (const Stretch& stretch : thread.stretches) {
    if (stretch.begin >= time.end) break;
    if (stretch.idle == idle) continue;
    const RunTime now = std::max(stretch.begin, time.begin);
    close(now);
    since = now;
    idle = stretch.idle;
  }
  return gaps;  // one that lasts to the end waits for nothing that is seen here
}

/// Ends of what a thread was busy with.
std::vector<RunTime> busy_ends(const ThreadPlan& thread, TimeRange time) {
  std::vector<RunTime> ends;
  bool idle = true;
  for (const Stretch& stretch : thread.stretches) {
    if (stretch.idle && !idle && time.contains(stretch.begin)) ends.push_back(stretch.begin);
    idle = stretch.idle;
  }
  return ends;
}

bool meets(const std::vector<Block>& blocks, TimeRange time) {
  const auto after =
      std::ranges::upper_bound(blocks, time.begin, {}, [](const Block& block) { return block.time.end; });
  return after != blocks.end() && after->time.begin < time.end;
}

/// Lets the main thread wait for the last collective of a helper thread that it had launched and that ended while it
/// did nothing; what it does for longer after that end than before was no wait.
void add_waits_for_helpers(ThreadPlan& thread, const std::vector<QueuePlan>& queues, TimeRange time) {
  std::vector<TimeRange> collectives;  // from the launch to the end, by end
  for (const QueuePlan& queue : queues)
    for (const Task& task : queue.tasks)
      if (task.launched_on == thread.lane) collectives.push_back({task.launched, task.time.end});
  std::ranges::sort(collectives, {}, &TimeRange::end);
  std::vector<Block> waits;
  for (const TimeRange& gap : gaps_of(thread, time)) {
    auto last = std::ranges::upper_bound(collectives, gap.end, {}, &TimeRange::end);
    while (last != collectives.begin() && std::prev(last)->end > gap.begin && std::prev(last)->begin > gap.begin)
      --last;
    if (last == collectives.begin() || std::prev(last)->end <= gap.begin) continue;
    const RunTime ended = std::prev(last)->end;
    if (ended - gap.begin >= gap.end - ended && !meets(thread.blocks, gap)) waits.push_back({gap, {}, {}, {}, false});
  }
  thread.blocks.insert(thread.blocks.end(), waits.begin(), waits.end());
  std::ranges::sort(thread.blocks, {}, [](const Block& block) { return block.time.begin; });
}

/// Lets threads that stood still wait for the one that ended something last meanwhile.
void add_joins(RankPlan& plan) {
  if (plan.threads.size() < 2) return;
  std::vector<std::vector<RunTime>> ends;
  for (const ThreadPlan& thread : plan.threads) ends.push_back(busy_ends(thread, plan.time));
  for (std::size_t own = 0; own < plan.threads.size(); ++own) {
    ThreadPlan& thread = plan.threads[own];
    std::vector<Block> joins;
    for (const TimeRange& gap : gaps_of(thread, plan.time)) {
      Block join{gap, {}, {}, {}, false};
      for (std::size_t other = 0; other < plan.threads.size(); ++other) {
        const auto after = std::ranges::upper_bound(ends[other], gap.end);
        if (other == own || after == ends[other].begin() || *std::prev(after) <= gap.begin) continue;
        if (join.other.is_set() && *std::prev(after) <= join.other_done) continue;
        join.other = plan.threads[other].lane;
        join.other_done = *std::prev(after);
      }
      if (join.other.is_set() && !meets(thread.blocks, gap)) joins.push_back(join);
    }
    for (const Block& join : joins)
      for (ThreadPlan& other : plan.threads)
        if (other.lane == join.other) other.cuts.push_back(join.other_done);
    thread.blocks.insert(thread.blocks.end(), joins.begin(), joins.end());
    std::ranges::sort(thread.blocks, {}, [](const Block& block) { return block.time.begin; });
  }
}

void add_launch_cuts(RankPlan& plan) {
  std::map<LaneId, ThreadPlan*> by_lane;
  for (ThreadPlan& thread : plan.threads) by_lane[thread.lane] = &thread;
  for (const QueuePlan& queue : plan.queues)
    for (const Task& task : queue.tasks)
      if (const auto found = by_lane.find(task.launched_on); found != by_lane.end())
        found->second->cuts.push_back(task.launched);
}

}  // namespace

std::vector<Stretch> stretches_of(const Run& run, const Lane& lane, HostRole role) {
  std::vector<Stretch> stretches;
  std::vector<Open> open;
  Stretch now;
  const auto enter = [&](RunTime begin) {
    if (!stretches.empty()) begin = std::max(begin, stretches.back().begin);  // of spans that only overlap
    now.begin = begin;
    if (!stretches.empty() && stretches.back().begin == begin)
      stretches.back() = now;
    else
      stretches.push_back(now);
  };
  const auto close_until = [&](RunTime time) {
    while (!open.empty() && open.back().end <= time) {
      const RunTime end = open.back().end;
      now = open.back().outside;
      open.pop_back();
      enter(end);
    }
  };
  SystemCalls system{run};
  for (const Span& span : run.spans_of(lane)) {
    const Part part = part_of(span.kind);
    if (part == Part::nothing || span.time.empty()) continue;
    close_until(span.time.begin);
    open.push_back({span.time.end, now});
    if (!now.span.is_set() || !system(span)) now.span = run.id_of(span);  // else what made the call is the operation
    now.work = work_in(part, role, now.work);
    now.idle = now.idle && part == Part::annotation;
    enter(span.time.begin);
  }
  close_until(RunTime::max());
  return stretches;
}

bool is_blocked(const Run& run, const Span& span) {
  if (span.kind == SpanKind::wait || span.kind == SpanKind::sync) return true;
  if (span.kind != SpanKind::runtime) return false;
  return blocks_host(run.text(span.name)) || waits_in_system(run.text(span.name));
}

RankPlan plan_rank(const Run& run, RankId rank, const RankSteps& steps) {
  RankPlan plan;
  plan.time = {steps.marks.front(), std::max(steps.marks.back(), steps.boundaries.back())};
  plan.has_accelerator = run.has_accelerator(rank);
  const std::optional<LaneId> main = steps.thread.is_set() ? steps.thread : main_lane(run, rank);
  if (!main) return plan;
  plan.queues = queues_of(run, run.process_row_of(rank), plan.time);
  const HostRole role = plan.has_accelerator ? HostRole::feeds_accelerator : HostRole::computes;
  for (const LaneId lane : threads_of(run, *main, plan.queues))
    plan.threads.push_back({lane,
                            stretches_of(run, run.lane(lane), role),
                            {},
                            blocks_of(run, run.lane(lane), {plan.time.begin, steps.marks.back()}, role)});
  plan.threads.front().cuts = steps.marks;
  if (!plan.has_accelerator) {
    std::vector<QueuePlan> helpers = helper_queues(run, plan);
    add_waits_for_helpers(plan.threads.front(), helpers, plan.time);
    std::ranges::move(helpers, std::back_inserter(plan.queues));
  }
  add_launch_cuts(plan);
  add_joins(plan);
  for (ThreadPlan& thread : plan.threads) {
    std::ranges::sort(thread.cuts);
    const auto rest = std::ranges::unique(thread.cuts);
    thread.cuts.erase(rest.begin(), rest.end());
  }
  return plan;
}

}  // namespace rankscope::analyzer::replay
