// The accelerator's own timer, with which the channels of a collective tell when they ran.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "inject/nccl/smallest_delay.h"
#include "inject/nccl/tick_proof.h"
#include "rankscope/core/recording/thread_writer.h"

namespace rankscope::inject::nccl {

/// Ties the timer to the clock of the recording: each second an anchor. One of a process; any number of threads. Where
/// two come at once, one is left out.
class GlobalTimer {
 public:
  void saw(recording::ThreadWriter& pen, const Noticed& next);
  /// As `saw`, of two times that were noticed before, and only if they are of the GPU whose times it has seen: the
  /// timers of GPUs begin at different times. False: of another GPU. Nothing: another thread was there.
  std::optional<bool> begins(recording::ThreadWriter& pen, const Noticed& from, const Noticed& to);

 private:
  [[nodiscard]] bool is_same_gpu(const Noticed& other) const;

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  SmallestDelay seconds_;
  std::optional<Noticed> anchor_;  ///< the last one
};

[[nodiscard]] GlobalTimer& timer_of_process();

/// The timer of a communicator's GPU. NCCL's counts ns. That of RCCL counts ticks of 10 ns (device/common.h,
/// globaltimer: wall_clock64, 100 MHz on MI100 and later), which is used once it is proven. Any number of threads.
class CommTimer {
 public:
  explicit CommTimer(GlobalTimer& of_process) : of_process_(of_process) {}

  /// Before the first time: the library is RCCL.
  void counts_ticks();
  [[nodiscard]] std::uint64_t ns_per_count() const { return ns_per_count_; }
  /// `next` lies a little before now. False: the times of this timer cannot be used, or not yet.
  bool saw(recording::ThreadWriter& pen, const Noticed& next);

 private:
  enum class State : std::uint8_t { usable, unproven, of_no_use };
  void prove(recording::ThreadWriter& pen, const Noticed& next);

  GlobalTimer& of_process_;
  std::uint64_t ns_per_count_ = 1;
  std::atomic<State> state_{State::usable};
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  TickProof proof_;
};

/// What a timer that did not advance as RCCL's should is reported with.
[[nodiscard]] std::string refusal_of(const Noticed& from, const Noticed& to, std::uint64_t ns_per_count);

}  // namespace rankscope::inject::nccl
