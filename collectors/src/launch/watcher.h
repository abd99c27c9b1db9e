// Watches the processes of the command from outside: those the library cannot enter (static programs, scrubbed
// environments) and those without a rank and without events leave at least host samples.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "host/sampler.h"
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

  /// One sample of every descendant that has no segment of its own. Those that do not live for a second leave none.
  void sample();
  /// Removes segments of processes that got one of their own, in which they are recorded better, and empty ones.
  void finish(int status_of_command);
  /// Processes that would have been sampled, had there been room for them.
  [[nodiscard]] std::uint64_t not_watched() const { return refused_.size(); }

 private:
  /// A value of a process that has not lived for a second yet.
  struct Early {
    std::string_view name;
    double value = 0;
    std::uint64_t ticks = 0;
  };
  struct Watched {
    HostSampler sampler;
    recording::ClockPair begun;
    std::vector<Early> early{};                           // until there is a segment
    std::unique_ptr<recording::SegmentWriter> segment{};  // declared before its pen, which must go first
    std::unique_ptr<recording::ThreadWriter> pen{};
    std::uint64_t samples = 0;
  };
  void watch(const ProcessKey& key);
  /// False: the process is gone and leaves nothing, or got a segment of its own, or none can be made.
  bool sample(const ProcessKey& key, Watched& watched);
  bool make_segment(const ProcessKey& key, Watched& watched);
  [[nodiscard]] bool old_enough(const ProcessKey& key) const;
  void read_segments();

  std::filesystem::path spool_;
  std::filesystem::path folder_;
  pid_t command_;
  recording::TickClock clock_ = recording::TickClock::detect();
  std::set<pid_t> recorded_;  // from inside
  std::map<ProcessKey, std::chrono::steady_clock::time_point> first_seen_;
  std::map<ProcessKey, Watched> watched_;
  std::set<ProcessKey> refused_;  // too many, or no segment could be made
};

/// All descendants of a process, without itself.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t process);

}  // namespace rankscope::collectors
