// What fixing something would give back, by replay (metrics.md 12).
#pragma once

#include <optional>
#include <span>

#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/what_if/section.h"
#include "replay/peers.h"
#include "replay/simulate.h"

namespace rankscope::analyzer::replay {

inline constexpr double refused_error = 0.05;  // metrics.md 12.3

/// A replay that reproduces what was measured, or why there is none.
[[nodiscard]] Section<WhatIfSection> what_if(const Graph& graph, const ItemPeers& peers);

/// The mean length of a step if all these ranks were as the others of their class; not set where why_not_as_others()
/// has a reason.
[[nodiscard]] std::optional<std::int64_t> replay_as_others(const Graph& graph, const ItemPeers& peers,
                                                           std::span<const RankId> ranks);

/// |replayed - measured| / measured.
[[nodiscard]] double replay_error(std::int64_t replayed_ns, std::int64_t measured_ns);
/// "the replayed time differs from the measured one by 7 % ..."; empty where it may be used.
[[nodiscard]] std::string why_refused(double error);
/// Share of the members of operations that keep their measured end, since their partners are not known.
[[nodiscard]] double partners_unknown(const Graph& graph);
/// What a prediction does not know, in sentences.
[[nodiscard]] std::vector<std::string> doubts_of(const Graph& graph);

}  // namespace rankscope::analyzer::replay
