#include "inject/cupti/pm_source.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cupti/cuda_driver.h"
#include "cupti/library.h"
#include "inject/cupti/clock.h"
#include "inject/recorder/lock_within.h"
#include "inject/recorder/pace.h"
#include "inject/recorder/quiet_thread.h"
#include "inject/recorder/recorder_state.h"
#include "pm/sampler.h"
#include "rankscope/core/format.h"
#include "spool/claim.h"

namespace rankscope::inject::pm {
namespace {

using collectors::Claim;
using collectors::CudaDevice;
using collectors::CudaDriver;
using collectors::Pace;
using collectors::PmSample;
using collectors::PmSampler;
using cupti::ClockReading;

constexpr std::int64_t period_ns = 100'000'000;  // after a kill so much is missing
constexpr std::chrono::seconds patience{2};      // for a round that is going on when the process ends
constexpr std::size_t samples_between_refills = 256;
constexpr std::size_t stack_bytes = std::size_t{1} << 20;

/// A GPU that this process may sample, since it was the first to use it.
struct Gpu {
  CudaDevice device;
  Claim claim{};
  std::unique_ptr<PmSampler> sampler{};  ///< null before it is used, and once it is let go
  std::vector<std::string> names{};      ///< of the counters
  std::uint64_t dropped = 0;             ///< that were counted
  bool given_up = false;
};

/// Lives as long as the process.
struct Source {
  collectors::cupti::Library library;
  collectors::cupti::PmLibrary sampling;
  std::unique_ptr<CudaDriver> driver;
  std::vector<Gpu> gpus;
  bool initialised = false;  ///< CUPTI's profiler
  ClockReading last{};
  std::mutex mutex;  ///< guards all of it, but for what is below
  std::atomic<bool> active{false};
  std::atomic<std::int64_t> thread{0};
  pid_t process = 0;

  /// False in the child of a fork: CUPTI is unusable there.
  [[nodiscard]] bool usable() const { return active.load() && process == getpid(); }
};

Source& source() {
  static Source* const only = new Source;
  return *only;
}

void say(const std::string& key, const std::string& text) {
  if (ThreadState* const state = here()) state->pen().metadata(key, text);
}

/// Nobody gets this source who did not ask for it.
void say_problem(const std::string& problem) {
  count(Trouble::sources_failed);
  say("pm_problem", problem);
}

void describe(const Gpu& gpu) {
  std::string metrics;
  for (const char* const metric : gpu.sampler->metrics()) metrics += (metrics.empty() ? "" : " ") + std::string{metric};
  say(format("pm_gpu_{}", gpu.device.ordinal),
      format("{} {} at {} Hz: {}", gpu.device.uuid, gpu.sampler->chip(), recorder_state().settings.pm_hz, metrics));
  for (const auto& [name, why] : gpu.sampler->left_out())
    say(format("pm_without GPU {} {}", gpu.device.ordinal, name), std::string{why});
  count(Trouble::pm_metrics_left_out, gpu.sampler->left_out().size());
  count(Trouble::gpu_clocks_held);
}

void finish_at_exit();

/// Only once CUDA is initialised for sure, and for programs that use a GPU. A sentence if it is not possible.
std::string initialise(Source& own) {
  if (own.initialised) return {};
  collectors::cupti::pm::Profiler request;
  const int status = own.sampling.call.initialize(&request);
  own.initialised = status == collectors::cupti::result::success;
  return own.initialised ? "" : pm_refusal(own.sampling.call, status, "initialising its profiler");
}

void begin(Source& own, Gpu& gpu) {
  gpu.given_up = true;
  if (const std::string problem = initialise(own); !problem.empty()) return say_problem(problem);
  auto sampler = std::make_unique<PmSampler>(own.sampling.call, gpu.device.ordinal, recorder_state().settings.pm_hz);
  if (!sampler->problem().empty()) return say_problem(sampler->problem());
  gpu.given_up = false;
  std::atexit(finish_at_exit);  // once more: now it comes before that of the driver
  gpu.sampler = std::move(sampler);
  for (const std::string_view name : gpu.sampler->names())
    gpu.names.push_back(format("GPU {} {}", gpu.device.ordinal, name));
  describe(gpu);
}

/// A GPU is sampled from its first use on by the first process that used it: there is one set of counters. Where nobody
/// can claim it, CUPTI refuses all but the first.
void look_for_gpus(Source& own) {
  if (own.gpus.empty())
    for (CudaDevice& device : own.driver->devices()) own.gpus.push_back({.device = std::move(device)});
  for (Gpu& gpu : own.gpus) {
    if (gpu.sampler != nullptr || gpu.given_up || !own.driver->is_used(gpu.device.ordinal)) continue;
    gpu.claim = Claim{recorder_state().settings.segments + "/sampled-" + gpu.device.uuid};
    if (gpu.claim.held() || gpu.claim.error() != 0) begin(own, gpu);
    if (gpu.given_up) gpu.claim = {};
  }
}

void store(const Gpu& gpu, const PmSample& sample, const ClockReading& before, const ClockReading& after) {
  ThreadState* const state = here();
  if (state == nullptr || !window_control.was_open(sample.begin_ns)) return;
  const std::uint64_t ticks = cupti::ticks_at(sample.begin_ns, before, after);
  for (std::size_t i = 0; i < sample.values.size(); ++i)
    if (std::isfinite(sample.values[i])) state->pen().counter(gpu.names[i], sample.values[i], ticks);
}

enum class Then : std::uint8_t { go_on, let_go };

void drain(Gpu& gpu, const ClockReading& before, const ClockReading& after, Then then) {
  std::size_t samples = 0;
  const PmSampler::Take take = [&](const PmSample& sample) {
    store(gpu, sample, before, after);
    if (++samples % samples_between_refills == 0) ready_chunks();
  };
  then == Then::go_on ? gpu.sampler->drain(take) : gpu.sampler->finish(take);
  count(Trouble::pm_samples_dropped, gpu.sampler->dropped() - gpu.dropped);
  gpu.dropped = gpu.sampler->dropped();
  const bool failed = !gpu.sampler->problem().empty();
  if (failed) say_problem(gpu.sampler->problem());
  gpu.given_up = gpu.given_up || failed || then == Then::let_go;
  if (!gpu.given_up) return;
  gpu.sampler.reset();
  gpu.claim = {};
}

void drain_all(Source& own, Then then) {
  const auto now = cupti::read_clock(own.library.call.get_timestamp);
  if (!now) return;
  for (Gpu& gpu : own.gpus)
    if (gpu.sampler != nullptr) drain(gpu, own.last, *now, then);
  own.last = *now;
}

/// The GPUs are free for others from then on. The mutex is held.
void finish(Source& own) {
  if (!own.usable()) return;
  drain_all(own, Then::let_go);
  own.gpus.clear();
  collectors::cupti::pm::Profiler request;
  if (std::exchange(own.initialised, false)) own.sampling.call.deinitialize(&request);
  own.active.store(false);
}

void finish_at_exit() {
  guarded([] {
    Source& own = source();
    if (own.process != getpid()) return;  // in the child of a fork the lock may never come free
    const std::unique_lock lock = lock_within(own.mutex, patience);
    if (lock.owns_lock()) finish(own);
  });
}

/// A sentence if it is not possible.
std::string prepare(Source& own) {
  own.library = collectors::cupti::load_library({}, collectors::cupti::Driver::being_initialised);
  if (!own.library.problem.empty()) return own.library.problem;
  const std::string refusal = collectors::cupti::sampling_refusal_of(own.library.version);
  if (!refusal.empty()) return refusal;
  own.sampling = collectors::cupti::find_pm_functions(own.library.path);
  if (!own.sampling.problem.empty()) return own.sampling.problem;
  own.driver = std::make_unique<CudaDriver>();
  if (!own.driver->problem().empty()) return own.driver->problem();
  const auto now = cupti::read_clock(own.library.call.get_timestamp);
  if (!now) return "CUPTI does not report a timestamp";
  own.last = *now;
  own.active.store(true);
  return {};
}

/// False: there is nothing more to do. The mutex is held.
bool round(Source& own) {
  if (!own.usable()) return false;
  if (window_control.is_finished()) return finish(own), false;
  look_for_gpus(own);
  drain_all(own, Then::go_on);
  return true;
}

bool begin_and_round(Source& own) {
  const std::lock_guard lock(own.mutex);
  const std::string problem = prepare(own);
  if (!problem.empty()) say_problem(problem);
  return problem.empty() && round(own);
}

bool next_round(Source& own) {
  const std::lock_guard lock(own.mutex);
  return round(own);
}

void* run(void*) {
  guarded([] {
    Source& own = source();
    own.thread.store(syscall(SYS_gettid));
    Pace pace{period_ns};
    for (bool more = begin_and_round(own); more && !process_ends(); more = next_round(own)) pace.wait();
  });
  return nullptr;
}

}  // namespace

void start() noexcept {
  static std::atomic<bool> started{false};
  if (started.exchange(true)) return;
  source().process = getpid();
  guarded([] { std::atexit(finish_at_exit); });
  start_quiet_thread("rankscope-pm", stack_bytes, run);
}

bool is_own_thread(std::int64_t thread) noexcept { return thread == source().thread.load(std::memory_order_relaxed); }

}  // namespace rankscope::inject::pm
