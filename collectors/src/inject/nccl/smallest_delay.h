// The times that the timer of a GPU shows, as the host notices them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace rankscope::inject::nccl {

/// A time that the timer showed, and when the host noticed it, a little later.
struct Noticed {
  std::uint64_t ticks = 0;   ///< of the segment clock
  std::int64_t host_ns = 0;  ///< the same instant on CLOCK_MONOTONIC
  std::int64_t gpu_ns = 0;
  /// A constant of both clocks, and how much later the host was.
  [[nodiscard]] std::int64_t delay_ns() const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(host_ns) - static_cast<std::uint64_t>(gpu_ns));
  }
};

/// Of each second, the time that the host noticed soonest: the best one to set a clock by.
class SmallestDelay {
 public:
  static constexpr std::int64_t window_ns = 1'000'000'000;

  /// Where `next` is the first one after a whole second: the best one of that second.
  std::optional<Noticed> add(const Noticed& next) {
    if (best_ && next.host_ns - begin_ns_ < window_ns) {
      if (next.delay_ns() < best_->delay_ns()) best_ = next;
      return std::nullopt;
    }
    begin_ns_ = next.host_ns;
    std::optional<Noticed> whole{next};
    std::swap(whole, best_);
    return whole;
  }

 private:
  std::int64_t begin_ns_ = 0;
  std::optional<Noticed> best_;
};

}  // namespace rankscope::inject::nccl
