#include "inject/cupti/clock.h"

#include "cupti/library.h"
#include "rankscope/core/recording/tick_clock.h"

namespace rankscope::inject::cupti {

std::optional<ClockReading> read_clock(int (*get_timestamp)(std::uint64_t*)) {
  static const recording::TickClock clock = recording::TickClock::detect();
  std::uint64_t tightest = UINT64_MAX;
  ClockReading reading;
  for (int tries = 0; tries < 5; ++tries) {
    std::uint64_t now = 0;
    const std::uint64_t before = clock.now();
    if (get_timestamp(&now) != collectors::cupti::result::success) return std::nullopt;
    const std::uint64_t gap = clock.now() - before;
    if (gap >= tightest) continue;
    tightest = gap;
    reading = {.ticks = before + gap / 2, .ns = static_cast<std::int64_t>(now)};
  }
  return reading;
}

std::uint64_t ticks_at(std::int64_t ns, const ClockReading& before, const ClockReading& after) {
  if (after.ns <= before.ns) return before.ticks;
  const double rate = static_cast<double>(after.ticks - before.ticks) / static_cast<double>(after.ns - before.ns);
  const double past = static_cast<double>(ns - before.ns) * rate;
  return before.ticks + static_cast<std::uint64_t>(static_cast<std::int64_t>(past));
}

}  // namespace rankscope::inject::cupti
