// Which kernels and copies took the time of the accelerators, and what ran together (metrics.md 4.1, 4.2).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/split/activity.h"
#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// Whether a kernel computes on tensor cores, as far as its name tells.
enum class TensorCores : std::uint8_t { unknown, yes, no };
inline constexpr std::size_t tensor_cores_count = 3;
[[nodiscard]] std::string_view name_of(TensorCores use);

/// Durations of the activities of one key that began in the counted windows; mean = sum / count. `exclusive_ns` is the
/// time of the windows that is charged to them; over all keys it adds up to the time in which anything ran.
struct KernelTimes {
  std::int64_t count = 0;
  std::int64_t sum_ns = 0;
  std::int64_t exclusive_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t median_ns = 0;
  std::int64_t p90_ns = 0;
  std::int64_t max_ns = 0;
  bool operator==(const KernelTimes&) const = default;
};

/// The activities of one kernel, or of one kernel with one grid and block.
struct KernelRow {
  std::string name;
  std::string short_name;  ///< without templates and arguments
  std::string grid;        ///< "[108,1,1]"; empty: not recorded, or the row is of all grids and blocks
  std::string block;
  ActivityClass kind = ActivityClass::compute;
  TensorCores tensor_cores = TensorCores::unknown;
  KernelTimes times;
};

/// What the rows that are not listed add up to; extremes and medians of different keys are never mixed.
struct KernelRest {
  std::size_t keys = 0;
  std::int64_t count = 0;
  std::int64_t sum_ns = 0;
  std::int64_t exclusive_ns = 0;
};

/// One kernel name on one rank.
struct RankKernelRow {
  std::size_t name = 0;  ///< row of KernelsSection::names
  KernelTimes times;
};

/// Index of `RankKernels::together`: bit 0 = compute, 1 = communication, 2 = copies.
inline constexpr std::size_t together_count = 8;

/// The kernels of one rank, and how long which kinds of work ran at the same time.
struct RankKernels {
  RankId rank;
  std::int64_t window_ns = 0;
  std::int64_t steps = 0;  ///< counted ones; 0: the whole recording
  std::int64_t exclusive_ns = 0;
  std::array<std::int64_t, together_count> together{};  ///< time of each combination; they add up to window_ns
  std::vector<RankKernelRow> names;                     ///< the longest exclusive time first
};

/// The device time by kernel. A moment in which several run is charged once, so that the sums are exact.
struct KernelsSection {
  std::vector<KernelRow> names;  ///< per name and class over the ranks, the longest exclusive time first
  std::vector<KernelRow> keys;   ///< the same per name, class, grid and block
  std::vector<RankKernels> ranks;
  std::int64_t window_ns = 0;     ///< of all ranks
  std::int64_t exclusive_ns = 0;  ///< of all ranks
  std::int64_t rank_steps = 0;    ///< steps of all ranks together; 0 where there are none
  std::array<std::int64_t, tensor_cores_count> tensor_cores_ns{};  ///< exclusive time of compute, by what names tell
};

/// The sums of the rows from `shown` on.
[[nodiscard]] KernelRest rest_of(std::span<const KernelRow> rows, std::size_t shown);
[[nodiscard]] KernelRest rest_of(std::span<const RankKernelRow> rows, std::size_t shown);

}  // namespace rankscope::analyzer
