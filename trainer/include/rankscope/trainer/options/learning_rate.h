// How the learning rate changes over the steps of a run.
#pragma once

#include <cstdint>

namespace rankscope::trainer {

/// How the learning rate falls after its warm-up.
enum class RateSchedule : std::uint8_t {
  constant,
  linear,  ///< falls in a straight line to 0 behind the last step
  cosine,  ///< falls along half a cosine to 0 behind the last step (Loshchilov and Hutter 2017, without restarts)
};

/// The course of the learning rate, without the rate itself.
struct RatePlan {
  RateSchedule schedule = RateSchedule::constant;
  std::int64_t warmup = 0;  ///< steps in which the rate rises in a straight line to its full value
};

/// What the learning rate is multiplied with in step `step` (from 0) of `steps`; from just above 0 to 1.
[[nodiscard]] double rate_factor(const RatePlan& plan, std::int64_t step, std::int64_t steps);

}  // namespace rankscope::trainer
