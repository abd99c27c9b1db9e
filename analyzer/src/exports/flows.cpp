#include "exports/flows.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace rankscope::analyzer {
namespace {

bool can_be_drawn(const Run& run, const Collective& member) {
  return member.state != CommState::enqueued && member.sequence >= 0 && member.span.is_set() &&
         !run.span(member.span).time.empty();
}

/// Spans are ordered by rank, so equal starts keep the order in which they are written.
auto start_order(const Run& run, const Collective& member) {
  return std::tuple{run.span(member.span).time.begin, member.span};
}

void link(const Run& run, std::span<const std::uint32_t> members, std::int64_t id, std::vector<Flow>& flows) {
  const auto& last = run.collectives()[members.back()];
  for (const auto& member : members) {
    const auto phase = &member == &members.front()  ? FlowPhase::start
                       : &member == &members.back() ? FlowPhase::finish
                                                    : FlowPhase::step;
    flows[member] = {.id = id,
                     .phase = phase,
                     .last_start = run.span(last.span).time.begin,
                     .last_rank = last.rank,
                     .members = static_cast<std::uint32_t>(members.size())};
  }
}

}  // namespace

std::vector<Flow> collective_flows(const Run& run) {
  const auto all = run.collectives();
  std::vector<std::uint32_t> members;
  for (std::uint32_t row = 0; row < all.size(); ++row) {
    if (can_be_drawn(run, all[row])) members.push_back(row);
  }
  const auto operation = [&](std::uint32_t row) { return std::tuple{all[row].group, all[row].sequence, all[row].op}; };
  std::ranges::sort(members, {},
                    [&](std::uint32_t row) { return std::tuple_cat(operation(row), start_order(run, all[row])); });

  std::vector<Flow> flows(all.size());
  std::int64_t id = 0;
  for (auto from = members.begin(); from != members.end();) {
    const auto to = std::find_if(from, members.end(), [&](auto row) { return operation(row) != operation(*from); });
    if (to - from > 1) link(run, {from, to}, ++id, flows);
    from = to;
  }
  return flows;
}

}  // namespace rankscope::analyzer
