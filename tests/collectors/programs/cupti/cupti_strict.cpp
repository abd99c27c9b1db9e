#include "cupti_strict.h"

#include <csignal>
#include <thread>

#include "cupti_foreign.h"

namespace rankscope::testing {
namespace {

void push_open_kernel(const Gpu& gpu, std::uint64_t number) {
  const ActivityRecord open = make_kernel(gpu.version, {gpu.now(), 0, 0, 1, 7, 900}, "open");
  require(gpu.push_open(open.bytes().data(), open.bytes().size(), number), "an open kernel is not taken");
}

void wait_for_flushes(const Gpu& gpu, unsigned more) {
  const unsigned until = gpu.flushes() + more;
  for (int tries = 0; gpu.flushes() < until; ++tries) {
    require(tries < 30'000, "nobody flushes any more");
    usleep(1'000);
  }
}

/// Its buffer stays while it is open, and comes with its end.
void play_open_kernel(const Gpu& gpu) {
  push_open_kernel(gpu, 1);
  gpu.kernel(901, gpu.now(), 30, "beside");
  wait_for_flushes(gpu, 2);
  require(gpu.finish(1, gpu.now()), "a flush has taken a buffer with an open kernel");
  wait_for_flushes(gpu, 2);
}

/// The program ends while it is open: the last flush takes what there is, without an end.
void play_never_finished(const Gpu& gpu) {
  push_open_kernel(gpu, 1);
  gpu.kernel(901, gpu.now(), 30, "beside");
}

/// A thread whose kernel is open holds back no records of another one.
void play_threads_apart(const Gpu& gpu) {
  push_open_kernel(gpu, 1);
  std::thread{[&] { gpu.kernel(901, gpu.now(), 30, "of another thread"); }}.join();
  wait_for_flushes(gpu, 2);
  kill(getpid(), SIGKILL);
}

/// Until the recorder must have noticed.
void wait_until_noticed(const Gpu& gpu) { wait_for_flushes(gpu, 11); }

void play_taken_entirely(const Gpu& gpu) {
  wait_for_flushes(gpu, 3);
  gpu.kernel(901, gpu.now(), 30, "before");
  gpu.flush(0);
  ForeignProfiler::take_everything(dlopen(std::getenv("RANKSCOPE_CUPTI"), RTLD_NOW | RTLD_NOLOAD));
  wait_until_noticed(gpu);
}

void play_finalized(const Gpu& gpu) {
  wait_for_flushes(gpu, 3);
  gpu.kernel(901, gpu.now(), 30, "before");
  gpu.flush(0);
  gpu.finalize();
  wait_until_noticed(gpu);
}

}  // namespace

bool play_strict(const std::string& scene, const Gpu& gpu) {
  if (scene == "open kernel") return play_open_kernel(gpu), true;
  if (scene == "never finished") return play_never_finished(gpu), true;
  if (scene == "threads apart") return play_threads_apart(gpu), true;
  if (scene == "taken entirely") return play_taken_entirely(gpu), true;
  if (scene == "finalized") return play_finalized(gpu), true;
  return false;
}

}  // namespace rankscope::testing
