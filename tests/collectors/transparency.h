// Runs a line of shell alone and under the recorder, in environments that name a rank and in one that does not.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "recorded.h"

namespace rankscope::collectors::testing {

using rankscope::testing::read_file;

struct Scene {
  std::string name;
  std::string line;  ///< for bash; $ACTOR and $STATIC are programs of these tests
};

struct Environment {
  std::string name;
  std::vector<std::pair<std::string, std::string>> variables;
};

inline const std::vector<Environment>& environments() {
  static const std::vector<Environment> all{
      {"no_rank", {}},
      {"torchrun", {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}}},
      {"slurm", {{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}}},
      {"open_mpi", {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}},
  };
  return all;
}

struct Seen {
  int status = -1;
  std::string output;
  bool operator==(const Seen&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Seen& seen) {
  return out << "status " << seen.status << ", output \"" << seen.output << '"';
}

inline std::vector<std::string> command_of(const Scene& scene, const fs::path& output) {
  return {"/bin/bash", "-c",
          "ACTOR='" + program("short_lives") + "' STATIC='" + program("static_actor") + "'; exec > '" +
              output.string() + "' 2>/dev/null; " + scene.line};
}

inline Seen alone(const Scene& scene) {
  const Folder folder;
  const std::vector<std::string> words = command_of(scene, folder / "out");
  const pid_t child = fork();
  if (child == 0) {
    execl(words[0].c_str(), words[0].c_str(), words[1].c_str(), words[2].c_str(), nullptr);
    _exit(127);
  }
  int state = 0;
  waitpid(child, &state, 0);
  return {WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state), read_file(folder / "out")};
}

inline Seen recorded(const Scene& scene, RecordOptions options = {}) {
  const Folder folder;
  options.command = command_of(scene, folder / "out");
  options.sample_hz = 50;
  const int status = record(folder, std::move(options)).status;
  return {status, read_file(folder / "out")};
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_UNDER_SANITIZERS() GTEST_SKIP() << "the recorder brings the sanitizer, which needs memory and threads"
#else
#define SKIP_UNDER_SANITIZERS() static_cast<void>(0)
#endif

}  // namespace rankscope::collectors::testing
