// Members of one operation: who waits for whom, and what happens where members are not in the graph.
#include <algorithm>

#include "collectives/comm_ops.h"
#include "rankscope/core/model/run.h"
#include "replay/rank_graph.h"

namespace rankscope::analyzer::replay {
namespace {

class Meeting {
 public:
  Meeting(Draft& draft, const Matching& matching, const Operation& operation)
      : draft_(draft), run_(*draft.graph().run), matching_(matching), operation_(operation) {}

  void add() {
    const WaitRule rule = comm_op(run_.text(operation_.op)).wait;
    if (rule == WaitRule::all || rule == WaitRule::pair || rule == WaitRule::root_waits) add_node();
    for (const std::uint32_t row : operation_.members) {
      const DraftMember member = draft_.member(row);
      if (member.finish == no_row || !matching_.parts[row].split) continue;
      if (!operation_.complete) draft_.hold(member.finish);
      const Collective& own = run_.collectives()[row];
      if (rule == WaitRule::root_is_last)
        await_root(own, member.finish);
      else if (meet_ != no_row && (rule != WaitRule::root_waits || own.peer == own.rank.value))
        draft_.add_edge(meet_, member.finish, EdgeKind::member);
    }
  }

 private:
  /// One node that all members reach before anybody may go on.
  void add_node() {
    RunTime last = RunTime::min();
    RunTime outside = RunTime::min();
    for (const std::uint32_t row : operation_.members) {
      const RunTime started = run_.collectives()[row].started;
      last = std::max(last, started);
      if (draft_.member(row).arrive == no_row) outside = std::max(outside, started);
    }
    Node node;
    node.kind = NodeKind::meet;
    node.start = node.end = last;
    node.floor = outside;
    meet_ = draft_.add_node(node);
    for (const std::uint32_t row : operation_.members)
      if (const std::uint32_t arrive = draft_.member(row).arrive; arrive != no_row)
        draft_.add_edge(arrive, meet_, EdgeKind::member);
  }

  void await_root(const Collective& own, std::uint32_t finish) {
    for (const std::uint32_t row : operation_.members) {
      const Collective& other = run_.collectives()[row];
      if (other.rank.value != own.peer || other.rank == own.rank) continue;
      const std::uint32_t arrive = draft_.member(row).arrive;
      if (arrive != no_row)
        draft_.add_edge(arrive, finish, EdgeKind::member);
      else
        draft_.node(finish).floor = std::max(draft_.node(finish).floor, other.started);
      return;
    }
  }

  Draft& draft_;
  const Run& run_;
  const Matching& matching_;
  const Operation& operation_;
  std::uint32_t meet_ = no_row;
};

}  // namespace

void add_meetings(Draft& draft, const Matching& matching) {
  if (!matching.section) return;
  for (const Operation& operation : matching.section->operations) Meeting(draft, matching, operation).add();
}

}  // namespace rankscope::analyzer::replay
