#include "rankscope/gui/models/job_signals.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;

/// A process is a child of that thread which forked it.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code error;
  const fs::path threads = fs::path{"/proc"} / std::to_string(process) / "task";
  for (fs::directory_iterator thread{threads, error}, end; !error && thread != end; thread.increment(error)) {
    std::ifstream file{thread->path() / "children"};
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> found = children_of(process);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const pid_t child : children_of(found[i])) found.push_back(child);
  return found;
}

void signal_job(pid_t recorder, int signal) {
  const std::vector<pid_t> direct = children_of(recorder);
  const std::vector<pid_t> all = descendants_of(recorder);
  kill(recorder, signal);
  for (const pid_t process : all)
    if (std::ranges::find(direct, process) == direct.end() && getpgid(process) == recorder) kill(process, signal);
}

void kill_job(pid_t recorder) {
  for (const pid_t process : descendants_of(recorder)) kill(process, SIGKILL);
}

}  // namespace rankscope::gui
