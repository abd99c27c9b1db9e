// Which span is next to another one, by the senses in which a user may mean it.
#pragma once

#include <optional>
#include <vector>

#include "rankscope/gui/models/timeline/timeline_model.h"

namespace rankscope::gui {

/// Of time, not of the screen.
enum class Direction : std::uint8_t { back, forward };

/// The next span of the same row of its lane, or of the same name on the lane.
[[nodiscard]] std::optional<SpanId> next_in_lane(const Facts& facts, SpanId from, Direction direction);
[[nodiscard]] std::optional<SpanId> next_of_name(const Facts& facts, SpanId from, Direction direction);
/// The next communication of the rank, by when it started.
[[nodiscard]] std::optional<SpanId> next_collective(const Facts& facts, RankId rank, RunTime from, Direction direction);
/// The same operation on the next rank that has it: the other member of a collective, else the one that is as manieth
/// of its name in its step, on a lane of the same kind; without steps the nearest one of its name.
[[nodiscard]] std::optional<SpanId> same_on_next_rank(const Facts& facts, SpanId from, Direction direction);
/// Of a span that is no communication: the one that is as manieth of its name in the same step, one on each other rank.
/// Empty without steps.
[[nodiscard]] std::vector<SpanId> same_on_other_ranks(const Run& run, const analyzer::Report& report, SpanId from);
/// The next span of any lane whose name is lit (by StringId), by when it begins.
[[nodiscard]] std::optional<SpanId> next_lit(const Facts& facts, const std::vector<bool>& lit,
                                             const std::vector<RankId>& ranks, RunTime from, Direction direction);
/// Rows of Run::spans() that are the other members of a collective; empty for other spans.
[[nodiscard]] std::vector<SpanId> members_of(const Facts& facts, SpanId span);

}  // namespace rankscope::gui
