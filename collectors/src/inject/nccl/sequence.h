// Which collective of a communicator is the n-th, so that all of its ranks agree.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/nccl/layout.h"

namespace rankscope::inject::nccl {

/// All ranks see the collectives of a communicator in the same order, except those of CUDA graphs. A rank that needs
/// NCCL's proxy for them reports each launch of the graph; the others report nothing, and from 2.27 on the capture
/// (src/enqueue.cc: ncclLaunchPrepare, ncclLaunchKernelAfter_NoCuda). These are not counted where that is known.
class SequenceNumbers {
 public:
  static constexpr std::int64_t none = -1;

  /// Of the next collective. `nccl_sequence` is NCCL's own number of it among those of its function.
  std::int64_t next(std::size_t function, std::int64_t nccl_sequence) {
    // From 2.26, NCCL's number does not advance at a collective of a CUDA graph (ncclProfilerStartTaskEvents:
    // "persistent"): the one before was such a collective, and was counted. Until 2.25 it always advances.
    const std::uint64_t last = last_[function].load(std::memory_order_relaxed);
    const std::uint64_t low = static_cast<std::uint64_t>(nccl_sequence) & nccl_mask;
    if (last != 0 && last >> own_bits == low) return static_cast<std::int64_t>(last & own_mask) - 1;
    const std::int64_t own = next();
    last_[function].store(low << own_bits | ((static_cast<std::uint64_t>(own) + 1) & own_mask),
                          std::memory_order_relaxed);
    return own;
  }
  /// Of one that NCCL does not number like the others.
  std::int64_t next() { return next_.fetch_add(1, std::memory_order_relaxed); }

 private:
  // Of the last collective of a function, both numbers in one word, since several threads may report: the low bits of
  // NCCL's, which tell neighbours apart, and above 0 our own + 1.
  static constexpr unsigned own_bits = 44;
  static constexpr std::uint64_t own_mask = (std::uint64_t{1} << own_bits) - 1,
                                 nccl_mask = ~std::uint64_t{0} >> own_bits;

  std::atomic<std::int64_t> next_{0};
  std::array<std::atomic<std::uint64_t>, function_count> last_{};
};

}  // namespace rankscope::inject::nccl
