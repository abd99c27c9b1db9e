// Pace: each block of a model does its real arithmetic and then sleeps until its nominal time, so that many ranks share
// few cores without disturbing one another, and a slow rank is slow by exactly its factor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace rankscope::trainer {

/// Nominal times of one step, cut into phases; blocks in the order in which the phase finishes them.
struct PaceSchedule {
  std::vector<std::chrono::nanoseconds> forward{};   ///< block 0 first
  std::vector<std::chrono::nanoseconds> backward{};  ///< block 0 first, too (it is finished last)
  std::chrono::nanoseconds optimizer{0};
};

/// Shares `step` over the blocks, nine tenths by their work (FLOPs) and the rest evenly: 1/3 of 96 % forward, 2/3
/// backward, 4 % optimizer. With accumulation each of the `micro_steps` takes its part of forward and backward. `step`
/// of 0 means unpaced.
[[nodiscard]] PaceSchedule pace_schedule(std::chrono::nanoseconds step, std::span<const double> work, int micro_steps);

/// The part that each block has in a pass over all of them; they add up to 1.
[[nodiscard]] std::vector<double> block_shares(std::span<const double> work);

/// Milliseconds so that all ranks of a host together keep its cores busy for at most half of the time, and at least
/// `floor`: noise between ranks stays small against the step.
[[nodiscard]] std::chrono::milliseconds automatic_pace(std::chrono::nanoseconds cpu_time_of_a_step, int local_ranks,
                                                       int cores);

/// Work that is handed to a device and not done when the call returns. Both empty: the calling thread computes itself.
struct PacedDevice {
  std::function<void()> finish{};                             ///< returns when the device has done what it was given
  std::function<void(std::chrono::nanoseconds)> keep_busy{};  ///< passes time with the device busy
};

/// Sleeps to the nominal times of one rank. Deadlines are cumulative inside a phase: what a sleep overshoots, the next
/// one gives back.
class Pacer {
 public:
  /// `waited`: what this thread has waited for other ranks so far. Where that happens inside of parts, it is not
  /// counted as their time.
  explicit Pacer(PaceSchedule schedule, std::function<std::chrono::nanoseconds()> waited = {}, PacedDevice device = {})
      : schedule_(std::move(schedule)), waited_(std::move(waited)), device_(std::move(device)) {}

  void slow_down(double factor) { factor_ = factor; }  ///< multiplies all nominal times from now on
  /// Passes over the blocks have so much of their nominal times from now on: 1, or less where a batch is smaller.
  void set_work(double share) { work_ = share; }
  /// A phase begins; its parts follow one another, each with its nominal time.
  void begin();
  void part_done(std::chrono::nanoseconds nominal);
  void begin_forward();
  void forward_done(std::size_t block);
  void begin_backward();
  void backward_done(std::size_t block);
  void begin_optimizer();
  void optimizer_done();

  /// Counts what another pacer of this process has overrun as well.
  void take_overruns(const Pacer& other);

  /// Times that the arithmetic alone took longer than the nominal time of all blocks so far, and the longest of it.
  [[nodiscard]] std::int64_t overruns() const { return overruns_; }
  [[nodiscard]] std::chrono::nanoseconds longest_overrun() const { return longest_overrun_; }

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::chrono::nanoseconds waited() const { return waited_ ? waited_() : std::chrono::nanoseconds{0}; }
  void finish_work() const;
  void pass_until(Clock::time_point end) const;

  PaceSchedule schedule_;
  std::function<std::chrono::nanoseconds()> waited_;
  PacedDevice device_;
  std::chrono::nanoseconds waited_before_{0};
  double factor_ = 1.0;
  double work_ = 1.0;
  Clock::time_point deadline_;
  Clock::time_point resumed_;  // end of the last block: where the arithmetic of this one began
  std::int64_t overruns_ = 0;
  std::chrono::nanoseconds longest_overrun_{0};
};

}  // namespace rankscope::trainer
