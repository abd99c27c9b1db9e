#include "exports/tensorboard/nodes.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "collectives/find.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

struct KnownName {
  std::string_view op;
  std::string_view gloo;
  std::string_view nccl;
};
/// The plugin knows five operations; the others get the name of the nearest.
constexpr std::array known_names{
    KnownName{"allreduce", "gloo:all_reduce", "nccl:all_reduce"},
    KnownName{"allgather", "gloo:all_gather", "nccl:all_gather"},
    KnownName{"reduce_scatter", "gloo:reduce_scatter", "nccl:reduce_scatter"},
    KnownName{"broadcast", "gloo:broadcast", "nccl:broadcast"},
    KnownName{"reduce", "gloo:reduce", "nccl:reduce"},
    KnownName{"alltoall", "gloo:all_gather", "nccl:all_gather"},
    KnownName{"gather", "gloo:all_gather", "nccl:all_gather"},
    KnownName{"scatter", "gloo:broadcast", "nccl:broadcast"},
    KnownName{"send", "gloo:broadcast", "nccl:broadcast"},
    KnownName{"recv", "gloo:broadcast", "nccl:broadcast"},
};

std::string_view node_name(std::string_view op, bool nccl) {
  const auto known = std::ranges::find(known_names, op, &KnownName::op);
  const KnownName& name = known == known_names.end() ? known_names.front() : *known;
  return nccl ? name.nccl : name.gloo;
}

const Span* launch_of(const Run& run, SpanId kernel) {
  const auto links = run.links_to(LinkKind::launch, kernel);
  return links.empty() ? nullptr : &run.span(links.front().from);
}

/// The node of one member as it would be; nothing where the member cannot be one.
std::optional<CommNode> candidate(const Run& run, std::uint32_t row, bool nccl) {
  const Collective& member = run.collectives()[row];
  if (member.state != CommState::finished || !member.span.is_set()) return std::nullopt;
  const Span& span = run.span(member.span);
  const bool on_stream = run.lane(span.lane).kind == LaneKind::stream;
  if (on_stream != nccl) return std::nullopt;  // both libraries in one file switch the view off
  CommNode node{
      .rank = member.rank, .name = node_name(run.text(member.op), nccl), .host = {}, .carrier = {}, .members = {row}};
  if (!nccl) {
    node.host = span.time;
    node.carrier = member.span;
    return node;
  }
  const Span* const launch = launch_of(run, member.span);
  const Span* const call = launch == nullptr ? nullptr : enclosing(run, *launch, SpanKind::api);
  node.host = call != nullptr     ? call->time
              : launch != nullptr ? launch->time
                                  : TimeRange{member.enqueued, member.enqueued};
  if (call != nullptr) node.carrier = run.id_of(*call);
  return node;
}

/// Members that one call launched are one node.
std::vector<CommNode> candidates(const Run& run, bool nccl) {
  std::vector<CommNode> nodes;
  std::map<SpanId, std::size_t> by_carrier;
  for (std::uint32_t row = 0; row < run.collectives().size(); ++row) {
    auto node = candidate(run, row, nccl);
    if (!node) continue;
    if (node->carrier.is_set()) {
      const auto [known, added] = by_carrier.try_emplace(node->carrier, nodes.size());
      if (!added) {
        nodes[known->second].members.push_back(row);
        continue;
      }
    }
    nodes.push_back(std::move(*node));
  }
  std::ranges::stable_sort(nodes, {}, [](const CommNode& node) { return std::tuple{node.rank, node.host.begin}; });
  return nodes;
}

/// The plugin wants each node inside a step.
bool in_a_step(const CommNode& node, const StepsSection* steps) {
  if (steps == nullptr) return true;
  return std::ranges::any_of(steps->windows, [&](const StepWindow& step) {
    return step.rank == node.rank && step.window.begin <= node.host.begin && node.host.end <= step.window.end;
  });
}

/// True if the n-th node of all ranks has the same name and number of kernels.
bool same_on_all_ranks(const Run& run, const std::vector<CommNode>& nodes) {
  using Shape = std::vector<std::pair<std::string_view, std::size_t>>;
  std::map<RankId, Shape> shapes;
  for (const RankId rank : run.ranks()) shapes[rank];
  for (const CommNode& node : nodes) shapes[node.rank].emplace_back(node.name, node.members.size());
  return std::ranges::all_of(shapes, [&](const auto& entry) { return entry.second == shapes.begin()->second; });
}

/// Rows of the operations in which every rank of the run took part, and all of whose nodes lie in steps.
std::set<std::uint32_t> common_members(const Run& run, const std::vector<CommNode>& inside) {
  std::set<std::uint32_t> usable;
  for (const CommNode& node : inside) usable.insert(node.members.begin(), node.members.end());
  std::set<std::uint32_t> common;
  const Matching matching = match_collectives(run, ClockTrust{run});
  if (!matching.section) return common;
  for (const Operation& operation : matching.section->operations) {
    const bool all = operation.members.size() == run.ranks().size() &&
                     std::ranges::all_of(operation.members, [&](auto row) { return usable.contains(row); });
    if (all) common.insert(operation.members.begin(), operation.members.end());
  }
  return common;
}

}  // namespace

const Span* enclosing(const Run& run, const Span& inner, SpanKind kind) {
  const auto spans = run.spans_of(run.lane(inner.lane));
  std::uint16_t depth = inner.depth;
  for (const Span* span = &inner; depth > 0 && span != spans.data();) {
    --span;
    if (span->depth >= depth || span->time.end < inner.time.end) continue;
    if (span->kind == kind) return span;
    depth = span->depth;
  }
  return nullptr;
}

CommNodes::CommNodes(const Run& run, const StepsSection* steps) : run_(run) {
  const bool nccl = std::ranges::any_of(run.ranks(), [&](RankId rank) { return run.has_accelerator(rank); });
  nodes_ = candidates(run, nccl);
  std::erase_if(nodes_, [&](const CommNode& node) { return !in_a_step(node, steps); });
  if (!same_on_all_ranks(run, nodes_)) {
    const auto common = common_members(run, nodes_);
    std::erase_if(nodes_, [&](const CommNode& node) {
      return !std::ranges::all_of(node.members, [&](auto row) { return common.contains(row); });
    });
    if (!same_on_all_ranks(run, nodes_)) nodes_.clear();
  }
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].carrier.is_set()) by_carrier_.emplace(nodes_[i].carrier, i);
    for (const std::uint32_t row : nodes_[i].members) by_member_.emplace(row, i);
  }
}

const CommNode* CommNodes::carried_by(SpanId span) const {
  const auto found = by_carrier_.find(span);
  return found == by_carrier_.end() ? nullptr : &nodes_[found->second];
}

const CommNode* CommNodes::of_member(std::uint32_t collective) const {
  const auto found = by_member_.find(collective);
  return found == by_member_.end() ? nullptr : &nodes_[found->second];
}

std::int64_t CommNodes::external_id(const CommNode& node) const {
  if (node.carrier.is_set()) return std::int64_t{node.carrier.value} + 1;
  return static_cast<std::int64_t>(run_.spans().size()) + 1 + (&node - nodes_.data());
}

}  // namespace rankscope::analyzer
