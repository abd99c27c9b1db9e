#include "watch_over.h"

#include <algorithm>
#include <chrono>

#include "rankscope/core/recording/tick_clock.h"
#include "talk.h"

namespace rankscope::collectors {
namespace {

using std::chrono::steady_clock;

/// Something that is done every so often, and at most half of the time.
class Round {
 public:
  explicit Round(std::chrono::nanoseconds period) : period_(period) {}
  [[nodiscard]] steady_clock::time_point next() const { return next_; }
  template <class Work>
  void run(Work&& work) {
    const auto begin = steady_clock::now();
    if (begin < next_) return;
    work();
    const auto end = steady_clock::now();
    next_ = std::max(next_ + period_, end + (end - begin));
  }

 private:
  std::chrono::nanoseconds period_;
  steady_clock::time_point next_ = steady_clock::now();
};

}  // namespace

void Toggle::turn(Talk talk) {
  const bool on = recording->toggle();
  was_on = was_on || on;
  *is_on = on;
  say(talk, on ? "rankscope: recording\n" : "rankscope: not recording\n");
}

bool Watch::samples() const { return sample_period(settings).count() > 0; }

void Watch::sample() {
  if (!samples() || is_over) return;
  is_over =
      settings.until_ns != 0 && static_cast<std::int64_t>(recording::TickClock::now_monotonic()) > settings.until_ns;
  is_over ? watcher.stop() : watcher.sample();
}

int watch_over(const Child& child, Watch watch, Toggle& toggle, Talk talk) {
  constexpr std::chrono::milliseconds packing_period{100};
  Round sampling{watch.samples() ? sample_period(watch.settings) : std::chrono::seconds{1}};
  Round packing{packing_period};
  const Reaped reaped = [&watch](pid_t pid, int status) { watch.ends.note_collected(pid, status); };
  constexpr std::chrono::milliseconds keeping_period{250};
  Round keeping{keeping_period};
  while (true) {
    if (const auto status = reap(child.process, reaped)) return *status;
    sampling.run([&] { watch.sample(); });
    packing.run([&] { watch.ended.pack(); });
    keeping.run([&] { watch.keeper.round(); });
    const auto pause = std::min({sampling.next(), packing.next(), keeping.next()}) - steady_clock::now();
    if (pause.count() > 0 && child.signals.wait(child.process, pause, toggle.signal)) toggle.turn(talk);
  }
}

}  // namespace rankscope::collectors
