// Ranks that should do equal work (metrics.md 0, "peer class"), and their own times (9.1).
#pragma once

#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// Rows of the report that may be compared with each other.
struct PeerClass {
  std::string name;                  ///< "all ranks", "stage 1", ...
  bool is_only = false;              ///< no other class has ranks with steps
  std::string caveat;                ///< set when they may not do equal work
  std::vector<const RankRow*> rows;  ///< by rank; each with one split per counted step
  [[nodiscard]] std::size_t size() const { return rows.size(); }
};

/// Only rows that have steps; every such row is in exactly one class.
[[nodiscard]] std::vector<PeerClass> peer_classes(const Run& run, const StepsSection& steps,
                                                  std::span<const RankRow> rows);

/// The one with that rank, or null.
[[nodiscard]] const PeerClass* class_of(std::span<const PeerClass> classes, RankId rank);

/// Own time of every peer in every counted step: times[peer][step].
using OwnTimes = std::vector<std::vector<std::int64_t>>;
[[nodiscard]] OwnTimes own_times(const PeerClass& peers);

/// The values of all but one.
[[nodiscard]] std::vector<std::int64_t> without(std::span<const std::int64_t> values, std::size_t left_out);

}  // namespace rankscope::analyzer
