// What determined how long steps are: one path over all ranks (metrics.md 11).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/id.h"
#include "rankscope/core/time.h"

namespace rankscope::analyzer {

/// What the step depended on in a stretch of the path.
enum class PathClass : std::uint8_t {
  compute,
  comm,
  memory,
  host,
  data,
  wait,  ///< communication whose partners are not known
  gap,   ///< nothing recorded tells why
};
inline constexpr std::size_t path_class_count = 7;
[[nodiscard]] std::string_view name_of(PathClass kind);

using PathSums = std::array<std::int64_t, path_class_count>;

/// A stretch of the path on one lane; they tile the step.
struct PathStretch {
  RankId rank;
  LaneId lane{};  ///< none: on no lane
  TimeRange time;
  PathClass kind = PathClass::gap;
  StringId name{};  ///< none: outside of all spans
};

/// The path through one step, which it fills without a gap.
struct PathStep {
  std::int64_t index = 0;
  std::int64_t length_ns = 0;  ///< the step's wall, exactly
  PathSums sums_ns{};          ///< add up to it
};

/// How long the path was on one rank, over all steps.
struct PathOfRank {
  RankId rank;
  std::int64_t ns = 0;
};

/// Time of one operation on the path.
struct PathOperation {
  std::string name;  ///< "" = outside of all spans
  PathClass kind = PathClass::compute;
  std::int64_t ns = 0;
  std::int64_t imbalance_ns = 0;  ///< more than the mean over ranks of what it took in the same steps (11.4)
};

/// All sums are over the steps; they all add up to `length_ns`.
struct CriticalPathSection {
  bool whole_recording = false;  ///< no steps are known: all is taken as one
  std::int64_t length_ns = 0;
  PathSums sums_ns{};
  std::vector<PathStep> steps;
  std::vector<PathOfRank> ranks;          ///< all that it touches, the longest first
  std::vector<PathOperation> operations;  ///< the longest first
  double near_critical = 0;               ///< mean share of ranks that could hardly be later (11.5)
  std::int64_t clamped_ns = 0;            ///< where clocks say that a cause came after what it caused
  std::int64_t drawn_step = 0;            ///< index of the step of median length
  std::vector<PathStretch> drawn;         ///< its path; neighbours of one lane and kind are one

  [[nodiscard]] std::int64_t ns_of(PathClass kind) const { return sums_ns[static_cast<std::size_t>(kind)]; }
  /// More than 10 % of it has no known reason.
  [[nodiscard]] bool incomplete() const { return 10 * (ns_of(PathClass::wait) + ns_of(PathClass::gap)) > length_ns; }
};

}  // namespace rankscope::analyzer
