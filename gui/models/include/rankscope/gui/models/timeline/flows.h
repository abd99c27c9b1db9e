// What belongs to a span elsewhere: what launched it, what it launched, who took part in it.
#pragma once

#include <optional>
#include <vector>

#include "rankscope/gui/models/timeline/neighbours.h"

namespace rankscope::analyzer {
struct PathStretch;
}  // namespace rankscope::analyzer

namespace rankscope::gui {

/// Why two spans belong together: a link of the run, or a common operation of several ranks.
enum class FlowKind : std::uint8_t { launch, forward_backward, members, transfer };

/// An arrow; for members of a collective: from the one that all or some have to wait for (the last one, or the root) to
/// each of these, as the report tells it.
struct Flow {
  FlowKind kind = FlowKind::launch;
  SpanId from{};
  SpanId to{};
  bool operator==(const Flow&) const = default;
};

/// All that begin or end at a span. Its collective: one per member that has to wait, as soon as waits are known; a
/// send: to its receive.
[[nodiscard]] std::vector<Flow> flows_of(const Facts& facts, SpanId span);
/// Where `]` and `[` lead from a span: what it caused or what caused it, else the next member of its collective by
/// rank.
[[nodiscard]] std::optional<SpanId> flow_neighbour(const Facts& facts, SpanId span, Direction direction);
/// The critical path of the step of median length; empty without a report.
[[nodiscard]] std::vector<analyzer::PathStretch> critical_stretches(const Facts& facts);

}  // namespace rankscope::gui
