// Which calls of operators of a rank are counted as FLOP, and which kernels are theirs (metrics.md 15.1).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "flops/name_cache.h"
#include "split/device_work.h"

namespace rankscope::analyzer {

/// One counted call. Of calls that lie in each other (linear -> addmm) only the innermost one is counted whose FLOP can
/// be told.
struct CountedCall {
  SpanId call;
  Flops flops;
  TensorCores cores = TensorCores::unknown;  ///< of its kernels, by their names
  bool recomputed = false;                   ///< a forward operator that ran again in a backward pass
  bool in_windows = false;                   ///< its first kernel (CPU ranks: the call) began there
  std::int64_t kernels_ns = 0;               ///< whole lengths of its kernels; CPU ranks: of the call
  std::int64_t exclusive_ns = 0;             ///< time of the windows charged to them
};

struct CountedOperators {
  std::vector<CountedCall> calls;
  std::array<std::int64_t, not_countable_count> lost_calls{};
  std::int64_t calls_without_work = 0;
  std::array<std::int64_t, compute_time_count> compute_parts{};  ///< exclusive times; of accelerators only
  std::int64_t devices = 1;
};

[[nodiscard]] CountedOperators count_operators(const Run& run, FlopCache& cache, RankId rank,
                                               const CountedWindows& windows);

}  // namespace rankscope::analyzer
