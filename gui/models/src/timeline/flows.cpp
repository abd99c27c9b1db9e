#include "rankscope/gui/models/timeline/flows.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "rankscope/analyzer/blame/closer_look.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"

namespace rankscope::gui {
namespace {

FlowKind kind_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::launch:
      return FlowKind::launch;
    case LinkKind::forward_backward:
      return FlowKind::forward_backward;
  }
  return FlowKind::launch;
}

constexpr std::array link_kinds{LinkKind::launch, LinkKind::forward_backward};

/// Links are sorted by where they lead to, so those that begin at a span are searched for one by one.
void add_links(const Facts& facts, SpanId span, std::vector<Flow>& flows) {
  for (const LinkKind kind : link_kinds)
    for (const Link& link : facts.run->links_to(kind, span)) flows.push_back({kind_of(kind), link.from, link.to});
  for (const Link& link : facts.run->links())
    if (link.from == span) flows.push_back({kind_of(link.kind), link.from, link.to});
}

void add_members(const Facts& facts, SpanId span, std::vector<Flow>& flows) {
  const Run& run = *facts.run;
  const std::vector<SpanId> members = members_of(facts, span);
  if (members.size() < 2) return;
  const auto is_send = [&run](SpanId id) {
    return run.text(run.collectives()[run.span(id).collective].op).find("send") != std::string_view::npos;
  };
  const auto sender = std::ranges::find_if(members, is_send);
  if (members.size() == 2 && sender != members.end())
    return flows.push_back(
        {FlowKind::transfer, *sender, *sender == members.front() ? members.back() : members.front()});
  if (facts.look == nullptr) return;
  for (const SpanId member : members) {
    const auto wait = facts.look->wait_of(run.span(member).collective);
    if (!wait || !wait->has_to) continue;
    if (const SpanId from = run.collectives()[wait->last_to_arrive].span; from.is_set())
      flows.push_back({FlowKind::members, from, member});
  }
}

}  // namespace

std::vector<Flow> flows_of(const Facts& facts, SpanId span) {
  std::vector<Flow> flows;
  add_links(facts, span, flows);
  add_members(facts, span, flows);
  return flows;
}

std::optional<SpanId> flow_neighbour(const Facts& facts, SpanId span, Direction direction) {
  for (const Flow& flow : flows_of(facts, span)) {
    if (flow.kind == FlowKind::members) continue;
    if (direction == Direction::forward && flow.from == span) return flow.to;
    if (direction == Direction::back && flow.to == span) return flow.from;
  }
  const std::vector<SpanId> members = members_of(facts, span);
  const auto at = std::ranges::find(members, span);
  if (at == members.end()) return std::nullopt;
  if (direction == Direction::forward) return at + 1 == members.end() ? std::nullopt : std::optional{*(at + 1)};
  return at == members.begin() ? std::nullopt : std::optional{*(at - 1)};
}

std::vector<analyzer::PathStretch> critical_stretches(const Facts& facts) {
  if (facts.report == nullptr || !facts.report_fits || !facts.report->critical_path) return {};
  return facts.report->critical_path->drawn;
}

}  // namespace rankscope::gui
