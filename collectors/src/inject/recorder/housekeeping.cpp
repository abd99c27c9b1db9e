// The thread that each recorded process has: readies room, pairs clocks, samples the host, ends the recording when its
// time is up.
#include <time.h>

#include <algorithm>
#include <optional>

#include "host/sampler.h"
#include "host/tcp_sampler.h"
#include "host/tcp_source.h"
#include "inject/recorder/quiet_thread.h"
#include "inject/recorder/recorder_state.h"

namespace rankscope::inject {
namespace {

using recording::TickClock;

constexpr std::int64_t tick_ns = 10'000'000;
constexpr std::int64_t clock_pair_ns = 1'000'000'000;
constexpr std::int64_t look_around_ns = 100'000'000;
constexpr std::size_t stack_bytes = 256 * 1024;

std::int64_t now_ns() { return static_cast<std::int64_t>(TickClock::now_monotonic()); }

void sleep_until(std::int64_t time_ns) {
  const timespec time{.tv_sec = time_ns / 1'000'000'000, .tv_nsec = time_ns % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

/// Does a thing every `period`, without catching up on what was missed.
class Every {
 public:
  explicit Every(std::int64_t period_ns) : period_ns_(period_ns) {}
  bool due(std::int64_t now) {
    if (period_ns_ <= 0 || now < next_ns_) return false;
    next_ns_ = now - next_ns_ < period_ns_ ? next_ns_ + period_ns_ : now + period_ns_;
    return true;
  }

 private:
  std::int64_t period_ns_;
  std::int64_t next_ns_ = 0;
};

collectors::Pressure pressure_of(recording::SegmentWriter& segment) {
  return segment.header().fixed.local_rank > 0 ? collectors::Pressure::skip : collectors::Pressure::sample;
}

std::unique_ptr<recording::ThreadWriter> make_pen(RecorderState& state) {
  const std::lock_guard lock(state.mutex);
  return make_pen_locked(state);
}

/// Under the mutex, since other threads do it, too.
void refill(RecorderState& state, recording::SegmentWriter& segment) {
  const std::lock_guard lock(state.mutex);
  segment.refill();
}

void write_samples(recording::ThreadWriter& pen, std::span<const collectors::HostSample> samples) {
  for (const collectors::HostSample& value : samples) pen.counter(value.name, value.value);
}

/// The main thread has ended without ending the process, as by pthread_exit, and every other thread of the program
/// since then. The kernel still counts the main thread.
bool only_quiet_threads_live(const ProcessStat& process, int quiet) {
  return process.state == 'Z' && process.threads - 1 <= quiet;
}

/// True if the process ends, as far as this thread is concerned.
bool lets_process_end(collectors::HostSampler& sampler) {
  const int before = quiet_threads();
  const auto process = sampler.process();
  const int quiet = std::min(before, quiet_threads());  // one may have begun or ended meanwhile
  return process && only_quiet_threads_live(*process, quiet) && end_process_after_quiet_threads(process->wait_status);
}

struct Connections {
  collectors::KernelTcpSource source;
  collectors::TcpSampler sampler{source};
};

/// Until the process ends. It must not live on only because of threads of the recorder.
void keep_house(RecorderState& state, recording::SegmentWriter& segment) {
  const auto pen = make_pen(state);
  collectors::HostSampler sampler{collectors::HostSampler::own_process, pressure_of(segment)};
  std::array<std::uint64_t, trouble_count> troubles{};
  Every clock_pair{clock_pair_ns};
  Every look_around{look_around_ns};
  const std::int64_t period_ns = collectors::sample_period(state.settings).count();
  Every sample{period_ns};
  std::optional<Connections> connections;
  if (period_ns > 0) connections.emplace();
  const std::int64_t until = state.settings.until_ns;
  bool stopped = false;
  for (std::int64_t next = now_ns();; next = std::max(next + tick_ns, now_ns())) {
    sleep_until(next);
    refill(state, segment);
    if (state.recording_switch != nullptr) window_control.switch_to(state.recording_switch->load() == 1);
    const std::int64_t now = now_ns();
    if (clock_pair.due(now)) {
      pen->clock_pair();
      write_troubles(*pen, troubles);
    }
    const bool records = gate.open.load(std::memory_order_relaxed);
    if (connections && records) connections->sampler.look(now);
    if (sample.due(now) && records) {
      write_samples(*pen, sampler.sample());
      if (connections) write_samples(*pen, connections->sampler.sample());
    }
    if (until != 0 && now >= until && !stopped) {
      window_control.finish();
      pen->metadata("stopped_by", "duration");
      stopped = true;
    }
    if (look_around.due(now) && lets_process_end(sampler)) return;
  }
}

/// A process that has ended within the first tick costs no more than the thread.
void* run(void*) {
  guarded([] {
    RecorderState& state = recorder_state();
    recording::SegmentWriter& segment = *state.published.load();
    sleep_until(now_ns() + tick_ns);
    keep_house(state, segment);
  });
  return nullptr;
}

}  // namespace

void start_housekeeping_locked(RecorderState& state) {
  if (state.housekeeping) return;
  state.housekeeping = start_quiet_thread("rankscope", stack_bytes, run);
  if (!state.housekeeping) count(Trouble::threads_refused);
}

}  // namespace rankscope::inject
