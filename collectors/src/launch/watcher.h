// Watches the processes of the command from outside: those that the library cannot enter (static programs, scrubbed
// environments) and those without events leave at least host samples. A process that tells no events is left alone: a
// thread of the recorder in it would break programs that must have a single thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/sampler.h"
#include "rankscope/core/recording/segment_writer.h"
#include "spool/file_names.h"
#include "spool/segment_names.h"

namespace rankscope::collectors {

class Watcher {
 public:
  /// `spool` is where the recorded processes leave their segments; what is watched goes to `spool`/outside. `rank_env`
  /// is the variable that the user named for the rank, or empty. What `is_own` is true of is not of the job, but was
  /// started by the recorder beside it; empty: there is no such process.
  Watcher(std::filesystem::path spool, pid_t command, std::string rank_env = {},
          std::function<bool(pid_t)> is_own = {});

  static constexpr std::size_t most_watched = 64;      ///< each costs a few open files and a segment
  static constexpr std::size_t most_with_ranks = 256;  ///< as far as the others are processes with a rank

  /// One sample of every descendant of the job that has no segment of its own. Those that do not live for 0.2 s (with a
  /// rank) or a second (without) leave none.
  void sample();
  /// The recording is over, but not the command: --duration.
  void stop();
  /// Removes segments of processes that got one of their own, in which they are recorded better.
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
  };
  void watch(const ProcessKey& key);
  /// False: the process is gone and leaves nothing, or got a segment of its own, or none can be made.
  bool sample(const ProcessKey& key, Watched& watched);
  [[nodiscard]] bool is_worth_a_segment(const ProcessKey& key) const;
  [[nodiscard]] bool has_room_for(const ProcessKey& key) const;
  bool make_segment(const ProcessKey& key, Watched& watched);
  static void remove_segment(const Watched& watched);
  void read_segments();

  std::filesystem::path spool_;
  std::filesystem::path folder_;
  pid_t command_;
  std::string rank_env_;
  std::function<bool(pid_t)> is_own_;
  recording::TickClock clock_ = recording::TickClock::detect();
  FileNames names_;                // of files in the spool that were looked at
  std::set<ProcessKey> recorded_;  // from inside
  std::map<ProcessKey, Watched> watched_;
  std::set<ProcessKey> refused_;  // too many, or no segment could be made
};

/// All descendants of a process, without itself.
[[nodiscard]] std::vector<pid_t> descendants_of(pid_t process);

}  // namespace rankscope::collectors
