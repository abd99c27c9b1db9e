// Which communication TensorBoard's distributed view may compare between ranks.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// A "communication node" of the plugin: a host range with one of its five names, and the kernels it launched.
struct CommNode {
  RankId rank;
  std::string_view name;               ///< "nccl:all_reduce", ...
  TimeRange host;                      ///< where the range lies
  SpanId carrier;                      ///< the span that becomes this range; none: one is added
  std::vector<std::uint32_t> members;  ///< rows of Run::collectives(): one, or several that were launched together
};

/// The plugin pairs the n-th node of all ranks, and drops the view if their numbers differ. So there are nodes only
/// where all ranks have the same list: of everything, else of the operations that all ranks took part in, else none.
class CommNodes {
 public:
  CommNodes(const Run& run, const StepsSection* steps);

  /// By (rank, begin).
  [[nodiscard]] const std::vector<CommNode>& all() const { return nodes_; }
  /// The node that a span carries, or null.
  [[nodiscard]] const CommNode* carried_by(SpanId span) const;
  /// The node that a member belongs to, or null.
  [[nodiscard]] const CommNode* of_member(std::uint32_t collective) const;
  /// Unique among the ids of spans + 1 and of other nodes.
  [[nodiscard]] std::int64_t external_id(const CommNode& node) const;

 private:
  const Run& run_;
  std::vector<CommNode> nodes_;
  std::unordered_map<SpanId, std::uint32_t> by_carrier_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_member_;
};

/// The innermost span of a kind around a span on its lane, or null.
[[nodiscard]] const Span* enclosing(const Run& run, const Span& inner, SpanKind kind);

}  // namespace rankscope::analyzer
