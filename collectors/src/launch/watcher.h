// Watches the processes of the command from outside: those the library cannot enter (static programs, scrubbed
// environments) and those without a rank and without events leave at least host samples.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "../host_sampler.h"
#include "rankscope/core/recording/segment_writer.h"

namespace rankscope::collectors {

/// Pid and start time: pids repeat.
struct ProcessKey {
  pid_t pid = 0;
  std::uint64_t start = 0;
  auto operator<=>(const ProcessKey&) const = default;
};

class Watcher {
 public:
  /// `spool` is where the recorded processes leave their segments; what is watched goes to `spool`/outside.
  Watcher(std::filesystem::path spool, pid_t command);

  static constexpr std::size_t most_watched = 64;  ///< each costs an open file and a segment

  /// One sample of every descendant that has lived for a second and has no segment of its own.
  void sample();
  /// Removes segments of processes that got one of their own, in which they are recorded better, and empty ones.
  void finish(int status_of_command);
  /// Processes that would have been sampled, had there been room for them.
  [[nodiscard]] std::uint64_t not_watched() const { return refused_.size(); }

 private:
  struct Watched {
    HostSampler sampler;
    std::unique_ptr<recording::SegmentWriter> segment;  // declared before its pen, which must go first
    std::unique_ptr<recording::ThreadWriter> pen;
    std::uint64_t samples = 0;
  };
  void begin(const ProcessKey& key);
  void read_segments();

  std::filesystem::path spool_;
  std::filesystem::path folder_;
  pid_t command_;
  std::set<pid_t> recorded_;  // from inside
  std::map<ProcessKey, std::chrono::steady_clock::time_point> first_seen_;
  std::map<ProcessKey, Watched> watched_;
  std::set<ProcessKey> refused_;  // too many, or no segment could be made
};

/// All descendants of a process, without itself.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t process);

}  // namespace rankscope::collectors
