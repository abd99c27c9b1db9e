#include "replay/rank_graph.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "rankscope/core/model/run.h"
#include "replay/draft.h"
#include "replay/rank_plan.h"

namespace rankscope::analyzer::replay {
namespace {

// The nodes of one lane in the order of time, to be found by time.

class LaneNodes {
 public:
  /// The nodes must be added in the order of their ends.
  void add(std::uint32_t node, RunTime end) { nodes_.push_back({end, node}); }
  /// The last node that has ended then; none if there is none.
  [[nodiscard]] std::uint32_t ended_by(RunTime time) const {
    const auto after = std::ranges::upper_bound(nodes_, time, {}, &Entry::end);
    return after == nodes_.begin() ? no_row : std::prev(after)->node;
  }
  [[nodiscard]] std::uint32_t last() const { return nodes_.empty() ? no_row : nodes_.back().node; }
  [[nodiscard]] bool empty() const { return nodes_.empty(); }

 private:
  struct Entry {
    RunTime end;
    std::uint32_t node;
  };
  std::vector<Entry> nodes_;
};

// Work of another stream that ended so shortly before is taken for what was awaited, where no waits were recorded.
constexpr nanoseconds nearby{20'000};

/// True for calls that return when all streams have run dry; others wait for one stream or event.
bool awaits_whole_device(std::string_view call) {
  return call.find("DeviceSynchronize") != std::string_view::npos ||
         call.find("CtxSynchronize") != std::string_view::npos;
}

class RankGraph {
 public:
  RankGraph(Draft& draft, const Matching& matching, std::uint32_t rank_row, const RankSteps& steps)
      : draft_(draft),
        run_(*draft.graph().run),
        matching_(matching),
        rank_row_(rank_row),
        steps_(steps),
        plan_(plan_rank(run_, draft.graph().ranks[rank_row], steps)) {}

  void add() {
    anchor_ = draft_.add_node(new_node(NodeKind::anchor, {}, {}, {plan_.time.begin, plan_.time.begin}));
    draft_.node(anchor_).floor = plan_.time.begin;
    for (const ThreadPlan& thread : plan_.threads) add_thread(thread);
    for (const QueuePlan& queue : plan_.queues) add_queue(queue);
    collect_ends();
    for (const ThreadPlan& thread : plan_.threads) connect_blocks(thread);
    for (const QueuePlan& queue : plan_.queues) connect_queue(queue);
    add_boundaries();
  }

 private:
  [[nodiscard]] Node new_node(NodeKind kind, LaneId lane, SpanId span, TimeRange time) const {
    Node node;
    node.kind = kind;
    node.rank = rank_row_;
    node.lane = lane;
    node.span = span;
    node.start = time.begin;
    node.end = time.end;
    return node;
  }

  [[nodiscard]] std::uint32_t step_at(RunTime time) const { return interval_at(steps_.boundaries, time); }
  /// Host work belongs to the step whose mark it follows.
  [[nodiscard]] std::uint32_t host_step_at(RunTime time) const { return interval_at(steps_.marks, time); }

  std::uint32_t host_item(const Stretch& stretch, std::uint32_t step) {
    const std::uint64_t key = std::uint64_t{stretch.span.value} << 32U | step;
    const auto [found, is_new] = host_items_.try_emplace(key, no_row);
    if (is_new) found->second = draft_.add_item({rank_row_, step, stretch.work, stretch.span, 0});
    return found->second;
  }

  void add_segment(const ThreadPlan& thread, TimeRange time) {
    LaneNodes& lane = lanes_[thread.lane];
    const std::uint32_t before = lane.last();
    const std::uint32_t node = draft_.add_node(new_node(NodeKind::segment, thread.lane, {}, time));
    draft_.add_edge(before == no_row ? anchor_ : before, node, EdgeKind::order);
    const std::uint32_t step = host_step_at(time.begin);
    auto stretch = std::ranges::upper_bound(thread.stretches, time.begin, {}, &Stretch::begin);
    RunTime now = time.begin;
    while (now < time.end) {
      const RunTime end = stretch == thread.stretches.end() ? time.end : std::min(stretch->begin, time.end);
      const Stretch own = stretch == thread.stretches.begin() ? Stretch{} : *std::prev(stretch);
      if (end > now) draft_.add_piece(host_item(own, step), (end - now).count());
      now = std::max(now, end);
      if (stretch != thread.stretches.end()) ++stretch;
    }
    lane.add(node, time.end);
  }

  /// The thread runs from cut to cut and from block to block.
  void add_thread(const ThreadPlan& thread) {
    host_items_.clear();
    const RunTime end = steps_.marks.back();
    RunTime now = plan_.time.begin;
    auto cut = thread.cuts.begin();
    const auto run_until = [&](RunTime until) {
      for (; cut != thread.cuts.end() && *cut < until; ++cut) {
        if (*cut <= now) continue;
        add_segment(thread, {now, *cut});
        now = *cut;
      }
      if (until > now) add_segment(thread, {now, until});
      now = std::max(now, until);
    };
    for (const Block& block : thread.blocks) {
      run_until(block.time.begin);
      add_block(thread, block);
      now = block.time.end;
    }
    run_until(end);
  }

  void add_block(const ThreadPlan& thread, const Block& block) {
    LaneNodes& lane = lanes_[thread.lane];
    const std::uint32_t before = lane.empty() ? anchor_ : lane.last();
    if (block.is_member) {
      const Span& span = run_.span(block.span);
      lane.add(add_member(thread.lane, span, before), block.time.end);
      return;
    }
    const std::uint32_t node =
        draft_.add_node(new_node(NodeKind::resume, thread.lane, block.span, {block.time.end, block.time.end}));
    draft_.add_edge(before, node, EdgeKind::order);
    lane.add(node, block.time.end);
  }

  /// Returns the node that ends with the member.
  std::uint32_t add_member(LaneId lane, const Span& span, std::uint32_t before) {
    const SpanId id = run_.id_of(span);
    const std::uint32_t arrive =
        draft_.add_node(new_node(NodeKind::arrive, lane, id, {span.time.begin, span.time.begin}));
    draft_.add_cause(before, arrive, EdgeKind::order);
    const bool known = span.collective != Span::no_collective;
    const bool split = known && matching_.parts[span.collective].split;
    const std::int64_t wait = split ? matching_.parts[span.collective].wait_ns : 0;
    const std::uint32_t item = draft_.add_item({rank_row_, step_at(span.time.begin), Work::transfer, id, 0});
    const std::uint32_t finish =
        draft_.add_node(new_node(NodeKind::finish, lane, id, {span.time.begin + nanoseconds{wait}, span.time.end}));
    draft_.add_piece(item, span.time.length().count() - wait);
    draft_.add_edge(arrive, finish, EdgeKind::order);
    if (known) draft_.member(span.collective) = {arrive, finish};
    if (!split) draft_.hold(finish);
    return finish;
  }

  /// What ended before the first step begins belongs to none: nothing makes it shorter, and it has no peers.
  std::uint32_t add_held(LaneId lane, const Span& span, std::uint32_t before) {
    const std::uint32_t node = draft_.add_node(new_node(NodeKind::activity, lane, run_.id_of(span), span.time));
    draft_.node(node).floor = span.time.end;
    draft_.add_cause(before, node, EdgeKind::order);
    return node;
  }

  void add_queue(const QueuePlan& queue) {
    LaneNodes& lane = lanes_[queue.lane];
    for (const Task& task : queue.tasks) {
      const Span& span = run_.span(task.span);
      // On new devices work of one stream may overlap: then it waited for an earlier one.
      const std::uint32_t before = lane.ended_by(span.time.begin);
      const std::uint32_t from = before == no_row ? anchor_ : before;
      std::uint32_t node = draft_.node_count();
      starts_.push_back(node);
      if (span.time.end <= steps_.boundaries.front()) {
        node = add_held(queue.lane, span, from);
      } else if (task.communicates) {
        node = add_member(queue.lane, span, from);
      } else {
        node = draft_.add_node(new_node(NodeKind::activity, queue.lane, task.span, span.time));
        draft_.add_cause(from, node, EdgeKind::order);
        const Work work = span.kind == SpanKind::memory || span.kind == SpanKind::comm ? Work::memory : Work::compute;
        draft_.add_piece(draft_.add_item({rank_row_, step_at(span.time.begin), work, task.span, 0}),
                         span.time.length().count());
      }
      ends_.push_back({span.time.end, task.launched_on.is_set() ? task.launched : RunTime::min(), queue.lane, node});
      if (lane.empty() || span.time.end >= latest_end_[queue.lane]) {
        lane.add(node, span.time.end);
        latest_end_[queue.lane] = span.time.end;
      }
    }
  }

  struct TaskEnd {
    RunTime end;
    RunTime launched;
    LaneId lane;
    std::uint32_t node;
  };

  void collect_ends() {
    std::ranges::stable_sort(ends_, {}, &TaskEnd::end);
    for (const TaskEnd& end : ends_) ends_of_[end.lane].push_back(end);
  }

  /// What a blocked thread waited for.
  void connect_blocks(const ThreadPlan& thread) {
    const LaneNodes& lane = lanes_[thread.lane];
    for (const Block& block : thread.blocks) {
      if (block.is_member) continue;
      const std::uint32_t resume = lane.ended_by(block.time.end);
      if (block.other.is_set())
        draft_.add_cause(lanes_[block.other].ended_by(block.other_done), resume, EdgeKind::host_wait);
      else if (block.span.is_set() && awaits_whole_device(run_.text(run_.span(block.span).name)))
        for (const auto& [queue, ends] : ends_of_) await_last(ends, block, resume);
      else
        await_last(ends_, block, resume);
    }
  }

  /// The last work that ended before the thread went on and was asked for before it stopped.
  void await_last(const std::vector<TaskEnd>& ends, const Block& block, std::uint32_t resume) {
    auto end = std::ranges::upper_bound(ends, block.time.end, {}, &TaskEnd::end);
    while (end != ends.begin()) {
      --end;
      if (end->launched > block.time.begin) continue;
      draft_.add_cause(end->node, resume, EdgeKind::host_wait);
      return;
    }
  }

  void connect_queue(const QueuePlan& queue) {
    for (const Task& task : queue.tasks) {
      const std::uint32_t node = starts_[next_start_++];
      if (task.launched_on.is_set() && task.launched >= plan_.time.begin) {
        const auto thread = lanes_.find(task.launched_on);
        if (thread != lanes_.end()) draft_.add_cause(thread->second.ended_by(task.launched), node, EdgeKind::launch);
      }
      if (plan_.has_accelerator) connect_streams(queue, node, task);
    }
  }

  /// Another stream whose work ended right before this began.
  void connect_streams(const QueuePlan& queue, std::uint32_t node, const Task& task) {
    auto end = std::ranges::upper_bound(ends_, task.time.begin, {}, &TaskEnd::end);
    for (; end != ends_.begin() && task.time.begin - std::prev(end)->end <= nearby; --end) {
      const TaskEnd& other = *std::prev(end);
      if (other.lane == queue.lane || other.node == node) continue;
      // Of two pieces of work without length at one moment neither is known to be the cause.
      if (draft_.node(other.node).start >= task.time.begin) continue;
      draft_.add_cause(other.node, node, EdgeKind::nearby);
      ++draft_.graph().doubts.nearby;
      return;
    }
  }

  /// A step begins where the host does, and where all work that was launched before has ended (metrics.md 1.2).
  void add_boundaries() {
    if (plan_.threads.empty()) return;
    const LaneNodes& main = lanes_[plan_.threads.front().lane];
    std::vector<TaskEnd> launches = ends_;
    std::erase_if(launches, [](const TaskEnd& end) { return end.launched == RunTime::min(); });
    std::ranges::stable_sort(launches, {}, &TaskEnd::launched);
    std::map<LaneId, TaskEnd> latest;
    auto launch = launches.begin();
    for (std::size_t step = 0; step < steps_.marks.size(); ++step) {
      for (; plan_.has_accelerator && launch != launches.end() && launch->launched < steps_.marks[step]; ++launch) {
        const auto [entry, is_new] = latest.try_emplace(launch->lane, *launch);
        if (!is_new && launch->end > entry->second.end) entry->second = *launch;
      }
      const RunTime time = steps_.boundaries[step];
      const std::uint32_t node = draft_.add_node(new_node(NodeKind::boundary, {}, {}, {time, time}));
      if (step == 0) draft_.node(node).floor = time;
      draft_.graph().boundaries[step * draft_.graph().ranks.size() + rank_row_] = node;
      const std::uint32_t host = main.ended_by(steps_.marks[step]);
      draft_.add_cause(host == no_row ? anchor_ : host, node, EdgeKind::boundary);
      for (const auto& [lane, end] : latest) draft_.add_cause(end.node, node, EdgeKind::boundary);
    }
  }

  Draft& draft_;
  const Run& run_;
  const Matching& matching_;
  std::uint32_t rank_row_;
  const RankSteps& steps_;
  RankPlan plan_;
  std::uint32_t anchor_ = no_row;
  std::map<LaneId, LaneNodes> lanes_;
  std::map<LaneId, RunTime> latest_end_;
  std::unordered_map<std::uint64_t, std::uint32_t> host_items_;  // of the current thread, by (span, step)
  std::vector<std::uint32_t> starts_;                            // the first node of each task, queue by queue
  std::size_t next_start_ = 0;
  std::vector<TaskEnd> ends_;                       // by end
  std::map<LaneId, std::vector<TaskEnd>> ends_of_;  // the same, queue by queue
};

}  // namespace

std::uint32_t interval_at(std::span<const RunTime> borders, RunTime time) {
  const auto after = std::ranges::upper_bound(borders, time);
  const auto index = after == borders.begin() ? 0 : after - borders.begin() - 1;
  return static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(index, std::ssize(borders) - 2));
}

void add_rank(Draft& draft, const Matching& matching, std::uint32_t rank_row, const RankSteps& steps) {
  RankGraph(draft, matching, rank_row, steps).add();
}

}  // namespace rankscope::analyzer::replay
