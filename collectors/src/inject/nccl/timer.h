// Ties the accelerator's timer to the clock of the recording.
#pragma once

#include <atomic>
#include <cstdint>

#include "rankscope/core/recording/thread_writer.h"

namespace rankscope::inject::nccl {

/// NCCL's proxy sees the time at which a channel started a little after it did; the smallest delay of a second is the
/// best one to set the clock by, and becomes an anchor.
class GlobalTimer {
 public:
  /// `gpu_ns` lies before now. Called on any proxy thread; where two come at once, one is left out.
  void saw(recording::ThreadWriter& pen, std::int64_t gpu_ns);

 private:
  static constexpr std::int64_t window_ns = 1'000'000'000;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::int64_t window_begin_ = 0;  ///< CLOCK_MONOTONIC; 0 = nothing was seen yet
  std::int64_t best_delay_ = 0;    ///< host - accelerator, ns
  std::int64_t best_gpu_ns_ = 0;
  std::uint64_t best_ticks_ = 0;
};

}  // namespace rankscope::inject::nccl
