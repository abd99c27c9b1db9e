#include "exports/shared/flows.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>

#include "collectives/comm_ops.h"
#include "collectives/matching.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

using Rows = std::vector<std::uint32_t>;  // of Run::collectives()

TimeRange time_of(const Run& run, std::uint32_t row) { return run.span(run.collectives()[row].span).time; }

bool can_be_drawn(const Run& run, std::uint32_t row) {
  return run.collectives()[row].span.is_set() && !time_of(run, row).empty();
}

/// Spans are ordered by rank, so equal starts keep the order in which they are written.
auto start_order(const Run& run) {
  return [&run](std::uint32_t row) { return std::tuple{time_of(run, row).begin, run.collectives()[row].span}; };
}

void link(const Run& run, const Rows& members, std::int64_t id, std::vector<Flow>& flows) {
  for (const auto& member : members) {
    const auto phase = &member == &members.front()  ? FlowPhase::start
                       : &member == &members.back() ? FlowPhase::finish
                                                    : FlowPhase::step;
    flows[member] = {.id = id,
                     .phase = phase,
                     .at = time_of(run, member).begin,
                     .members = static_cast<std::uint32_t>(members.size())};
  }
}

/// Sender first. False if the data would arrive before they left: then the clocks do not carry an arrow.
bool order_pair(const Run& run, Rows& members) {
  if (!is_send(run.text(run.collectives()[members.front()].op))) std::swap(members.front(), members.back());
  return time_of(run, members.front()).begin < time_of(run, members.back()).end;
}

/// The receiver may have begun to wait long before: the arrow ends where the sender began.
void end_at_sender(const Run& run, const Rows& members, std::vector<Flow>& flows) {
  Flow& end = flows[members.back()];
  end.at = std::max(time_of(run, members.front()).begin, time_of(run, members.back()).begin);
}

}  // namespace

std::vector<Flow> collective_flows(const Run& run) {
  std::vector<Flow> flows(run.collectives().size());
  std::int64_t id = 0;
  for (const Operation& operation : match_operations(run, ClockTrust{run}).operations) {
    Rows members;
    std::ranges::copy_if(operation.members, std::back_inserter(members),
                         [&](auto row) { return can_be_drawn(run, row); });
    if (members.size() < 2) continue;
    const bool pair = is_point_to_point(run.text(operation.op));
    if (!pair) std::ranges::sort(members, {}, start_order(run));
    if (pair && !order_pair(run, members)) continue;
    link(run, members, ++id, flows);
    if (pair) end_at_sender(run, members, flows);
  }
  return flows;
}

}  // namespace rankscope::analyzer
