// Plays libcuda and a GPU: it loads the injection as cuInit does, and lets the stand-in of libcupti tell what a GPU
// would have done.
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cupti_builder.h"
#include "cupti_foreign.h"
#include "cupti_fuzz.h"
#include "cupti_gpu.h"
#include "cupti_nvml.h"
#include "cupti_strict.h"
#include "rankscope/collectors/annotate.h"

namespace {

using namespace rankscope::testing;

/// One of each kind.
void play_all(const Gpu& gpu) {
  require(gpu.is_set_up(), "buffers were not promised to be zeroed, or threads have no system ids");
  const std::uint64_t t = gpu.now();
  const auto thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  gpu.push(make_device(gpu.version, 0, "NVIDIA Stand-in"));
  gpu.push(make_context(gpu.version, 1, 0));
  gpu.launch(1, t, 5'000);
  gpu.kernel(1, t + 8'000, 20'000);
  gpu.push(make_call(5, 41, thread, {t + 10'000, t + 12'000, 0, 0, 0, 2}, 1));
  gpu.push(make_copy(gpu.version, {t + 30'000, t + 40'000, 0, 1, 7, 2}, 4096));
  gpu.push(make_peer_copy(gpu.version, {t + 41'000, t + 42'000, 0, 1, 8, 0}, 8192));
  gpu.push(make_set(gpu.version, {t + 43'000, t + 44'000, 0, 1, 7, 0}, 16));
  gpu.push(make_call(4, 307, thread, {t + 13'000, t + 14'000, 0, 0, 0, 3}));
  gpu.kernel(3, t + 50'000, 1'000, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  gpu.push(make_event(gpu.version, {t + 29'000, 0, 0, 1, 7, 4}, 5, 77));
  gpu.push(make_wait(gpu.version, {t + 45'000, t + 45'500, 0, 1, 8, 6}, 5, 77));
  gpu.push(make_overhead(gpu.version, 7U << 16, thread, {t + 60'000, t + 61'000}));
  gpu.push(make_memory(gpu.version, false, 1 << 20, {t + 62'000, 0, 0, 1, 7, 7}));
  gpu.push(make_memory(gpu.version, true, 1 << 20, {t + 63'000, 0, 0, 1, 7, 8}));
  gpu.push(make_pool(gpu.version, 1, 1 << 21, {t + 64'000, 0, 0, 1, 7, 9}));
}

void play_many(const Gpu& gpu, std::uint32_t kernels) {
  const std::uint64_t begin = gpu.now();
  for (std::uint32_t i = 1; i <= kernels; ++i) {
    gpu.launch(i, begin + i * 100, 50);
    gpu.kernel(i, begin + i * 100 + 60, 30);
  }
}

/// Each thread fills the buffers and takes what others left there.
void play_threads(const Gpu& gpu) {
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 4; ++i)
    threads.emplace_back([&gpu, i] {
      const std::uint64_t begin = gpu.now();
      for (std::uint32_t k = 1; k <= 2'000; ++k) gpu.kernel(i * 10'000 + k, begin + k * 100, 50);
      gpu.flush(0);
    });
  for (std::thread& thread : threads) thread.join();
}

void play_death(const Gpu& gpu) {
  play_many(gpu, 100);
  gpu.flush(0);  // as the recorder does twice a second
  play_many(gpu, 10);
  kill(getpid(), SIGKILL);
}

/// More than a megabyte of records, of which one is never finished.
void play_busy_death(const Gpu& gpu) {
  gpu.keep_unfinished(true);
  play_many(gpu, 9'000);
  gpu.flush(0);
  kill(getpid(), SIGKILL);
}

void play_fork(const Gpu& gpu) {
  play_many(gpu, 10);
  if (const pid_t child = fork(); child == 0) {
    std::exit(0);  // its exit handlers run, and may not touch CUPTI
  } else {
    int status = 0;
    waitpid(child, &status, 0);
    require(status == 0, "the child of a fork did not end well");
  }
}

/// A fork while the recorder flushes, which in the child goes on for ever.
void play_fork_in_flush(const Gpu& gpu) {
  using Clock = std::chrono::steady_clock;
  play_many(gpu, 10);
  gpu.hold_flush(true);
  while (!gpu.is_flushing()) sched_yield();
  const auto begin = Clock::now();
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  gpu.hold_flush(false);
  require(status == 0, "the child of a fork did not end well");
  require(Clock::now() - begin < std::chrono::seconds{1}, "the child waited for the flush of its parent");
}

void play_bad_records(const Gpu& gpu) {
  const std::uint64_t t = gpu.now();
  gpu.kernel(1, t, 1'000);
  gpu.push(make_kernel(gpu.version, {0, 0, 0, 1, 7, 2}, "_Z4lostv"));
  gpu.push(make_kernel(gpu.version, {t + 5'000, t + 4'000, 0, 1, 7, 3}, "_Z8backwardv"));
  gpu.push(make_kernel(gpu.version, {t - 200'000'000'000'000, t, 0, 1, 7, 4}, "_Z5earlyv"));
  gpu.push(make_kernel(gpu.version, {t + 6'000, t + 7'000, 0, 1, 7, 5}, nullptr));
}

/// Steps 0 and 2 are outside a window of 1,0,1,1.
void play_steps(const Gpu& gpu) {
  constexpr const char* names[] = {"kernel of step 0", "kernel of step 1", "kernel of step 2"};
  for (std::uint32_t step = 0; step < 3; ++step) {
    const rankscope::annotate::Span scope{rankscope::annotate::Kind::step, "step"};
    gpu.kernel(step + 1, gpu.now(), 10, names[step]);
  }
}

/// An event in each of three steps, and waits in the second one for the first two of them.
void play_events(const Gpu& gpu) {
  for (std::uint32_t step = 0; step < 3; ++step) {
    const rankscope::annotate::Span scope{rankscope::annotate::Kind::step, "step"};
    const std::uint64_t t = gpu.now();
    gpu.launch(10 * step + 1, t, 10);
    gpu.push(make_event(gpu.version, {t, 0, 0, 1, 7, 10 * step + 2}, 5 + step, 70 + step));
    if (step != 1) continue;
    gpu.push(make_wait(gpu.version, {t + 20, t + 30, 0, 1, 8, 13}, 5, 70));
    gpu.push(make_wait(gpu.version, {t + 40, t + 50, 0, 1, 8, 14}, 6, 71));
  }
}

/// cudaProfilerStart and cudaProfilerStop around the second kernel.
void play_profiled(const Gpu& gpu) {
  constexpr int runtime = 2;
  constexpr std::uint32_t start = 171, stop = 172;
  gpu.kernel(1, gpu.now(), 10, "before");
  rankscope::annotate::mark("before");
  gpu.call(runtime, start);
  gpu.kernel(2, gpu.now(), 10, "between");
  rankscope::annotate::mark("between");
  gpu.call(runtime, stop);
  gpu.kernel(3, gpu.now(), 10, "after");
  rankscope::annotate::mark("after");
}

void wait_until(const std::function<bool()>& holds, const char* what) {
  for (int tries = 0; !holds(); ++tries) {
    require(tries < 20'000, what);
    usleep(1'000);
  }
}
constexpr std::uint32_t kernels = 10, runtime_calls = 5, devices = 8;

/// The program goes on when its recording is over.
void play_outlives(const Gpu& gpu) {
  play_steps(gpu);
  wait_until([&] { return !gpu.is_subscribed(); }, "CUPTI is not let go");
  require(gpu.enabled_kinds() == 0, "kinds are recorded that nobody takes");
}

void rest(const Gpu& gpu) {
  wait_until([&] { return !gpu.is_enabled(runtime_calls); }, "calls are recorded that nobody takes");
  require(gpu.is_enabled(kernels), "the GPU is left alone, too");
  gpu.launch(90, gpu.now(), 10);
  gpu.kernel(90, gpu.now(), 10, "outside");
}

/// Behind it follows a flush.
void awake(const Gpu& gpu) {
  wait_until([&] { return gpu.is_enabled(runtime_calls); }, "calls are not recorded again");
  const unsigned before = gpu.flushes();
  wait_until([&] { return gpu.flushes() > before; }, "nobody flushes");
}

void work(const Gpu& gpu) {
  constexpr std::uint32_t last_error = 10;
  const std::uint64_t t = gpu.now();
  gpu.launch(1, t, 5);
  gpu.kernel(1, t + 10, 10, "inside");
  const auto thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  require(!gpu.push(make_call(5, last_error, thread, {t, t + 5, 0, 0, 0, 2})), "idle calls are recorded again");
}

/// Two steps of waiting, one of warm-up, one that is recorded; twice.
void play_rests(const Gpu& gpu) {
  for (int step = 0; step < 8; ++step) {
    const rankscope::annotate::Span scope{rankscope::annotate::Kind::step, "step"};
    if (step % 4 == 0) rest(gpu);
    if (step % 4 == 2) awake(gpu);
    if (step % 4 == 3) work(gpu);
  }
}

/// The recorder switches on what rests.
void play_switched(const Gpu& gpu) {
  rest(gpu);
  kill(getppid(), SIGUSR2);
  awake(gpu);
  work(gpu);
}

/// cudaProfilerStart comes late, and what follows on it at once is recorded.
void play_profiled_late(const Gpu& gpu) {
  wait_until([&] { return gpu.flushes() > 6; }, "nobody flushes");
  require(gpu.is_enabled(runtime_calls), "the first calls would be missed");
  play_profiled(gpu);
}

/// A launch, and what PyTorch's watchdog does all the time, or the runtime for each launch.
void play_polls(const Gpu& gpu) {
  constexpr std::uint32_t runtime_query = 138, driver_query = 120, kernel_name = 719, device_attribute = 200;
  const auto thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  const std::uint64_t t = gpu.now();
  gpu.launch(1, t, 10);
  gpu.push(make_call(5, runtime_query, thread, {t + 20, t + 30, 0, 0, 0, 2}));
  gpu.push(make_call(4, driver_query, thread, {t + 40, t + 50, 0, 0, 0, 3}));
  gpu.push(make_call(4, kernel_name, thread, {t + 60, t + 70, 0, 0, 0, 4}));
  gpu.push(make_call(5, device_attribute, thread, {t + 80, t + 90, 0, 0, 0, 5}));
}

/// Nothing but launches, many more than the recorder may pay for. False: they are not taken any more.
bool launch_densely(const Gpu& gpu, std::chrono::seconds time) {
  using Clock = std::chrono::steady_clock;
  const auto thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  for (const auto end = Clock::now() + time; Clock::now() < end; usleep(5'000)) {
    const std::uint64_t t = gpu.now();
    for (std::uint32_t i = 1; i <= 500; ++i)
      if (!gpu.push(make_call(5, 211, thread, {t + i, t + i + 1, 0, 0, 0, i}))) return false;
  }
  return true;
}

void play_dense(const Gpu& gpu) {
  require(!launch_densely(gpu, std::chrono::seconds{60}), "all calls are recorded, whatever they cost");
  const std::uint64_t t = gpu.now();
  const auto thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  require(gpu.push(make_call(4, 307, thread, {t, t + 5, 0, 0, 0, 900'001})), "the launches of NCCL are not recorded");
  gpu.kernel(900'001, t + 10, 20, "after");
}

/// Another profiler registers its buffers over those of the recorder.
void play_taken_over(const Gpu& gpu) {
  wait_until([&] { return gpu.flushes() > 2; }, "nobody flushes");
  play_many(gpu, 10);
  gpu.flush(0);
  ForeignProfiler::take_buffers(dlopen(std::getenv("RANKSCOPE_CUPTI"), RTLD_NOW | RTLD_NOLOAD));
  play_many(gpu, 10);
  const unsigned before = gpu.flushes();
  wait_until([&] { return gpu.flushes() > before + 9; }, "nobody flushes any more");
  require(ForeignProfiler::buffers > 0, "nothing came to the other profiler");
}

/// Nothing happens for as long.
void play_idle(const Gpu& gpu) {
  play_many(gpu, 10);
  wait_until([&] { return gpu.flushes() > 12; }, "nobody flushes");
}

/// A launch of a graph of one kernel. The stand-in takes what is asked for: the kernel, or the whole.
void play_graph(const Gpu& gpu) {
  const std::uint64_t t = gpu.now();
  gpu.launch(1, t, 5'000);
  gpu.kernel(1, t + 10'000, 20'000);
  gpu.push(make_graph(gpu.version, {t + 10'000, t + 40'000, 0, 1, 7, 1}, 12));
}

/// The main thread ends before another one does; the C library ends the process then, unless threads of the recorder
/// keep it alive.
void end_with_the_last_thread() {
  std::atexit([] { std::puts("at exit"); });
  std::thread{[] { usleep(50'000); }}.detach();
  pthread_exit(nullptr);
}

struct Scene {
  std::string_view name;
  void (*play)(const Gpu& gpu);
};
constexpr std::array scenes{
    Scene{"all", play_all},
    Scene{"threads", play_threads},
    Scene{"death", play_death},
    Scene{"busy death", play_busy_death},
    Scene{"taken over", play_taken_over},
    Scene{"idle", play_idle},
    Scene{"dense", play_dense},
    Scene{"fork", play_fork},
    Scene{"fork in flush", play_fork_in_flush},
    Scene{"bad", play_bad_records},
    Scene{"steps", play_steps},
    Scene{"events", play_events},
    Scene{"graph", play_graph},
    Scene{"profiled", play_profiled},
    Scene{"profiled late", play_profiled_late},
    Scene{"polls", play_polls},
    Scene{"rests", play_rests},
    Scene{"switched", play_switched},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string scene = argc > 1 ? argv[1] : "";
  if (const char* const runtime = std::getenv("STANDIN_CUDART"))
    require(dlopen(runtime, RTLD_NOW) != nullptr, "no runtime of CUDA");
  if (scene == "came second") ForeignProfiler::begin(dlopen(std::getenv("RANKSCOPE_CUPTI"), RTLD_NOW));
  prepare_nvml(scene, argv[0]);
  initialise_cuda();
  rankscope::annotate::mark("played");
  if (scene == "nothing") return 0;
  if (scene == "lasting") return usleep(300'000);  // the threads that it started get to say what they found
  if (scene == "last thread") end_with_the_last_thread();
  if (const int status = play_nvml(scene, argv[0]); status >= 0) return status;
  if (scene == "let go") {
    const char* const path = std::getenv("RANKSCOPE_CUPTI");
    require(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == nullptr, "what is not used stays loaded");
    return 0;
  }
  const Gpu gpu = find_gpu();
  if (scene == "refused") {
    require(!gpu.is_subscribed() && gpu.enabled_kinds() == 0, "it was refused and records all the same");
    return 0;
  }
  if (scene == "details") rankscope::annotate::metadata("details_recorded", "shapes");
  if (play_strict(scene, gpu)) return 0;
  for (const Scene& one : scenes)
    if (one.name == scene) one.play(gpu);
  if (scene == "many") play_many(gpu, 60'000);
  if (scene == "some") play_many(gpu, 100);
  if (scene == "late device") {
    wait_until([&] { return gpu.is_enabled(devices); }, "devices are not asked for again");
    gpu.push(make_device(gpu.version, 0, "NVIDIA Stand-in"));
  }
  if (scene == "no device") wait_until([&] { return gpu.flushes() > 12; }, "nobody flushes");
  if (scene == "dense without end")
    require(launch_densely(gpu, std::chrono::seconds{4}), "calls are left out without a limit");
  if (scene == "came second") {  // once the buffer that the other profiler began has been handed back
    wait_until([&] { return gpu.flushes() > 1; }, "nobody flushes");
    play_many(gpu, 60'000);
  }
  if (scene == "replay") require(gpu.replay(), "the dump could not be replayed");
  if (scene == "fuzz") return play_fuzz({gpu.version, gpu.now, gpu.hand_over});
  if (scene == "outlives") return play_outlives(gpu), 0;
  if (scene == "rests") return 0;
  require(gpu.is_subscribed(), "nobody records");
  return 0;
}
