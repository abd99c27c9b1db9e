// How much was computed, how far that is from what the devices can do, and where the rest went (metrics.md 15).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/flops/loss_ladder.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// Numbers that are multiplied, and the units that do it: each pair has a peak of its own.
enum class Precision : std::uint8_t { unknown, fp64, fp64_matrix, fp32, fp32_matrix, bf16, fp16, fp8, int8 };
[[nodiscard]] std::string_view name_of(Precision precision);

/// What an operator with a FLOP formula does.
enum class FlopClass : std::uint8_t { matrix, convolution, attention };
[[nodiscard]] std::string_view name_of(FlopClass kind);

/// Why the FLOPs of such a call cannot be told.
enum class NotCountable : std::uint8_t {
  no_shapes,           ///< its inputs were not recorded
  unusable_shapes,     ///< sizes that do not fit each other
  not_told_by_shapes,  ///< strides, or the lengths of packed sequences, are not among what was recorded
  complex_numbers,
  too_large,  ///< above 2^63 - 1
};
inline constexpr std::size_t not_countable_count = 5;
[[nodiscard]] std::string_view name_of(NotCountable why);

/// What took the compute time of an accelerator: the counted operators, and those that are missing in the FLOPs.
enum class ComputeTime : std::uint8_t {
  counted,
  not_countable,  ///< operators with a formula whose FLOPs cannot be told
  generated,      ///< kernels of Triton and of compilers, which fuse operators
  graph,          ///< replays of CUDA graphs
  no_operator,    ///< launched outside of all operators, or without a launch record
  matrix_kernel,  ///< other operators whose kernels multiply matrices, by their names
  other,          ///< operators without matrix products: few FLOPs
};
inline constexpr std::size_t compute_time_count = 7;
[[nodiscard]] std::string_view name_of(ComputeTime part);

/// Sums over counted calls; a call belongs to the window in which its first kernel (CPU ranks: the call) began.
struct FlopSums {
  std::int64_t calls = 0;
  std::int64_t model = 0;         ///< FLOPs without what is computed again
  std::int64_t executed = 0;      ///< FLOPs
  std::int64_t assumed = 0;       ///< part of `model` that rests on something that was not recorded
  std::int64_t kernels_ns = 0;    ///< whole length of their kernels; CPU ranks: of the calls
  std::int64_t exclusive_ns = 0;  ///< time of the windows charged to their kernels
  /// False, and nothing is added, if a sum does not fit.
  [[nodiscard]] bool add(const FlopSums& more);
  bool operator==(const FlopSums&) const = default;
};

/// The counted calls of one precision, since each has a peak of its own.
struct PrecisionRow {
  Precision precision = Precision::unknown;
  FlopSums sums;
  std::optional<double> peak_tflops;  ///< dense, of all devices of the rank
};

/// Calls of one operator with the same inputs, over the ranks.
struct FlopRow {
  std::string name;
  std::string shapes;  ///< as recorded
  FlopClass kind = FlopClass::matrix;
  Precision precision = Precision::unknown;
  FlopSums sums;
  std::optional<std::int64_t> at_peak_ns;  ///< what `executed` takes at the peak
};

/// What one rank computed in its counted windows, against the peak of its devices.
struct RankFlops {
  RankId rank;
  std::string device;
  std::int64_t devices = 1;  ///< that worked
  bool accelerator = false;
  std::int64_t steps = 0;
  std::int64_t window_ns = 0;
  std::int64_t compute_ns = 0;
  FlopSums sums;
  std::vector<PrecisionRow> precisions;  ///< most FLOPs first
  std::int64_t recomputed = 0;           ///< FLOPs of forward operators that ran again in a backward pass
  std::int64_t fp32_unclear = 0;         ///< FLOPs on FP32 inputs, taken as FP32 since no kernel name tells its units
  std::array<std::int64_t, not_countable_count> lost_calls{};
  std::int64_t calls_without_work = 0;                           ///< launched nothing that was recorded: not counted
  std::array<std::int64_t, compute_time_count> compute_parts{};  ///< they add up to compute_ns; CPU ranks: all 0
  std::int64_t model_flops = 0;                                  ///< of the windows: the user's number, else sums.model
  bool stated_by_user = false;                                   ///< model_flops is
  std::string peak_source;                                       ///< empty: the peak is not known
  std::optional<std::int64_t> at_peak_ns;                        ///< what model_flops takes at the peak
  std::string why_no_peak;                                       ///< set where at_peak_ns is not
  Ratio mfu;
  Ratio hfu;
  Ratio coverage;  ///< share of compute time whose FLOPs are counted
};

/// How close the job came to what its devices can compute, and where the rest of the time went.
struct FlopsSection {
  std::vector<RankFlops> ranks;
  std::vector<FlopRow> operators;  ///< the longest time beyond the peak first, then the longest
  FlopSums sums;
  std::string why_no_flops;                         ///< set where nothing is known
  std::optional<double> user_peak_tflops;           ///< --peak-tflops
  std::optional<std::int64_t> user_flops_per_step;  ///< metadata model_flops_per_step, of all ranks of the job
  std::string refused_user_flops;                   ///< what the metadata says instead of a number; empty: nothing
  std::int64_t step_ns = 0;                         ///< median step time; 0: no steps
  Ratio mfu;
  Ratio hfu;
  Ratio coverage;
  Section<Ladder> ladder = unavailable("not computed");
};

}  // namespace rankscope::analyzer
