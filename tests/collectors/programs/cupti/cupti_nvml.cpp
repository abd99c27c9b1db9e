#include "cupti_nvml.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "cupti_gpu.h"
#include "rankscope/collectors/annotate.h"

namespace rankscope::testing {
namespace {

using annotate::Kind;

constexpr int failed = 4;

unsigned rounds_of_nvml() {
  const char* const path = std::getenv("RANKSCOPE_NVML");
  require(path != nullptr, "no RANKSCOPE_NVML");
  void* const library = dlopen(path, RTLD_NOW);
  const auto rounds = reinterpret_cast<unsigned (*)()>(dlsym(library, "standin_rounds"));
  require(rounds != nullptr, "no stand-in of NVML");
  return rounds();
}

/// Until the GPUs have been sampled twice: then the first samples are stored.
int wait_for_samples() {
  for (int tries = 0; rounds_of_nvml() < 3; ++tries) {
    require(tries < 30'000, "this process does not sample");
    usleep(1'000);
  }
  return 0;
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : failed;
}

/// The rank that a launcher starts, and that would sample, too.
int launch_a_rank(const char* program, const char* scene) {
  const pid_t rank = fork();
  if (rank == 0) {
    for (const char* const name : {"RANK", "LOCAL_RANK"}) setenv(name, "0", 1);
    setenv("WORLD_SIZE", "1", 1);
    execl(program, program, scene, nullptr);
    std::_Exit(failed);
  }
  return status_of(rank);
}

/// Recorded with a window of its second step.
int sample_a_step() {
  { const annotate::Span first{Kind::step, "step"}; }
  const annotate::Span second{Kind::step, "step"};
  return wait_for_samples();
}

struct Other {
  pid_t process = -1;
  int told = -1;  ///< read: what it says
  int tell = -1;  ///< written: shut, it ends
};
Other other;

/// It samples before this process initialises CUDA.
void let_another_sample(const char* program) {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  require(pipe2(to.data(), O_CLOEXEC) == 0 && pipe2(from.data(), O_CLOEXEC) == 0, "no pipes");
  const pid_t child = fork();
  if (child == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    execl(program, program, "sampled until told", nullptr);
    std::_Exit(failed);
  }
  close(to[0]);
  close(from[1]);
  char sampled = 0;
  require(read(from[0], &sampled, 1) == 1, "the other process does not sample");
  other = {.process = child, .told = from[0], .tell = to[1]};
}

int sample_until_told() {
  wait_for_samples();
  char byte = 'S';
  require(write(STDOUT_FILENO, &byte, 1) == 1, "nobody hears");
  return static_cast<int>(read(STDIN_FILENO, &byte, 1));
}

int take_over() {
  usleep(300'000);
  require(rounds_of_nvml() == 0, "both sample");
  close(other.tell);
  require(status_of(other.process) == 0, "the other process failed");
  return wait_for_samples();
}

/// Nobody can open a folder for writing.
void block_claim() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string path = std::getenv("RANKSCOPE_SEGMENTS") + std::string{"/sampled-nvml-"} + host.data();
  require(mkdir(path.c_str(), 0700) == 0, "the claim cannot be blocked");
}

}  // namespace

void prepare_nvml(const std::string& scene, const char* program) {
  if (scene == "takes over") let_another_sample(program);
  if (scene == "cannot claim") block_claim();
}

int play_nvml(const std::string& scene, const char* program) {
  if (scene == "sampled" || scene == "cannot claim") return wait_for_samples();
  if (scene == "sampled until told") return sample_until_told();
  if (scene == "takes over") return take_over();
  if (scene == "sampled step") return sample_a_step();
  if (scene == "launches a rank") return wait_for_samples(), launch_a_rank(program, "lasting");
  if (scene == "launches a rank of steps") return usleep(300'000), launch_a_rank(program, "sampled step");
  return -1;
}

}  // namespace rankscope::testing
