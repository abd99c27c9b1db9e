#include "rankscope/trainer/options/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rankscope::trainer {

double rate_factor(const RatePlan& plan, std::int64_t step, std::int64_t steps) {
  if (step < plan.warmup) return static_cast<double>(step + 1) / static_cast<double>(plan.warmup + 1);
  const auto falling = static_cast<double>(std::max<std::int64_t>(1, steps - plan.warmup));
  const double done = static_cast<double>(step - plan.warmup) / falling;
  switch (plan.schedule) {
    case RateSchedule::constant:
      return 1;
    case RateSchedule::linear:
      return 1 - done;
    case RateSchedule::cosine:
      return (1 + std::cos(std::numbers::pi * done)) / 2;
  }
  return 1;
}

}  // namespace rankscope::trainer
