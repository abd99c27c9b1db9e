// Which processes without a rank are ranks all the same, by what they did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rankscope::recording {

/// What a process recorded at most.
enum class WorkLevel : std::uint8_t {
  none,     ///< nothing, or it was only watched from outside
  samples,  ///< counters and facts, but no event
  events,   ///< calls, ranges and operators: a launcher that asks CUDA for its devices has those
  work,     ///< kernels, copies, collectives, steps or phases of a step: what a rank does
};

/// What decides whether a process is a rank.
struct RankEvidence {
  bool has_rank = false;  ///< a variable or a communicator said which
  WorkLevel level = WorkLevel::none;
};

/// If no process has a rank and one of them did more than all others: that one. It is rank 0, and the others are
/// launchers and helpers.
[[nodiscard]] std::optional<std::size_t> only_rank(std::span<const RankEvidence> processes);

/// From which level on a process without a rank is a rank that is not known. Beside ranks, only one that works is: a
/// launcher is none. Where nobody has a rank, it is who did most.
[[nodiscard]] WorkLevel level_of_unknown_ranks(std::span<const RankEvidence> processes);

}  // namespace rankscope::recording
