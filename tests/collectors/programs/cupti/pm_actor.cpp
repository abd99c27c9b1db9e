// Plays a program that uses a GPU: it loads the injection as cuInit does and waits until the stand-in of CUPTI was
// sampled as a scene needs it.
#include <dlfcn.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "rankscope/collectors/annotate.h"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "pm_actor: %s\n", what);
  std::exit(3);
}

struct Gpu {
  unsigned (*samples)() = nullptr;
  unsigned (*decodes)() = nullptr;
  unsigned (*polls)() = nullptr;
  unsigned (*asked)() = nullptr;
  bool (*is_sampling)() = nullptr;
  std::uint64_t (*now)() = nullptr;
  std::uint64_t (*sampled_until)() = nullptr;

  /// So many more samples; those before them are stored.
  void sample(unsigned more) const {
    const unsigned wanted = samples() + more;
    while (samples() < wanted) sched_yield();
    const unsigned stored = decodes() + 1;
    while (decodes() < stored) sched_yield();
  }
};

Gpu find_gpu() {
  const char* const path = std::getenv("RANKSCOPE_CUPTI");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  require(library != nullptr, "no stand-in of CUPTI");
  const auto find = [library](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  Gpu gpu;
  find("standin_samples", gpu.samples);
  find("standin_decodes", gpu.decodes);
  find("standin_polls", gpu.polls);
  find("standin_asked", gpu.asked);
  find("standin_is_sampling", gpu.is_sampling);
  find("standin_now", gpu.now);
  find("standin_sampled_until", gpu.sampled_until);
  return gpu;
}

void initialise_cuda() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  require(library != nullptr, "the injection does not load");
  const auto initialise = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  require(initialise != nullptr && initialise() == 1, "the injection refuses");
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// Two are sampled for so long, and end after that. Behind the window of the second one the GPU is let go.
void play_steps(const Gpu& gpu) {
  constexpr std::uint64_t step_ns = 5'000'000;
  for (int step = 0; step < 2; ++step) {
    const rankscope::annotate::Span scope{rankscope::annotate::Kind::step, "step"};
    const std::uint64_t end = gpu.now() + step_ns;
    while (gpu.sampled_until() < end) sched_yield();
  }
  { const rankscope::annotate::Span scope{rankscope::annotate::Kind::step, "step"}; }
  while (gpu.is_sampling()) sched_yield();  // for ever, unless the recorder lets go
}

/// A second program on the same GPU, while this one samples it.
void play_two(const Gpu& gpu, const char* program) {
  gpu.sample(5);
  const pid_t other = fork();
  if (other == 0) execl(program, program, "second", nullptr);
  require(status_of(other) == 0, "the second program did not end well");
  gpu.sample(5);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string scene = argc > 1 ? argv[1] : "";
  const Gpu gpu = find_gpu();
  initialise_cuda();
  rankscope::annotate::mark("played");
  if (scene == "some") gpu.sample(20);
  if (scene == "steps") play_steps(gpu);
  if (scene == "two") play_two(gpu, argv[0]);
  if (scene == "refused")
    while (gpu.asked() == 0) sched_yield();
  if (scene == "unused" || scene == "second")
    while (gpu.polls() < 3) sched_yield();
  if (scene == "second") require(!gpu.is_sampling() && gpu.samples() == 0, "two sample one GPU");
  if (scene == "death") {
    gpu.sample(20);
    kill(getpid(), SIGKILL);
  }
  if (scene == "fork") {
    gpu.sample(5);
    const pid_t child = fork();
    if (child == 0) std::exit(0);  // its exit handlers run, and may not touch CUPTI
    require(status_of(child) == 0, "the child of a fork did not end well");
  }
  if (scene == "brief") {  // it ends before the recorder reads what was sampled
    while (!gpu.is_sampling()) sched_yield();
    const std::uint64_t end = gpu.now() + 30'000'000;
    while (gpu.now() < end) sched_yield();
  }
  if (scene == "outlives") {
    gpu.sample(5);
    while (gpu.is_sampling()) sched_yield();  // for ever, unless the recorder lets go
  }
  return 0;
}
