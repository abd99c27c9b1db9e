// How the processes of the command end: their parents reap them, and no one else is told. Watched from outside of them
// through file descriptors of processes, which cost nothing until a process ends.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "spool/segment_names.h"

namespace rankscope::collectors {

/// A process that was ended by a signal, or exited with an error.
struct BadEnd {
  pid_t pid = 0;
  int wait_status = 0;  ///< as of waitpid(2)
  std::int64_t at_unix_ns = 0;
};

/// Watches all descendants of this process while it lives.
class EndWatch {
 public:
  EndWatch();
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;
  ~EndWatch();

  /// Looks a last time; nothing is noted after this.
  void stop();
  static constexpr std::size_t most_watched = 2048;  ///< each costs a descriptor
  static constexpr std::size_t most_ends = 4096;

  /// Of a process that this one has reaped, which may have been faster than the watch.
  void note_reaped(pid_t pid, int wait_status);
  /// "HOST PID STATUS NS;...", as the manifest has it, in the order of the ends; may be empty.
  [[nodiscard]] std::string text() const;

 private:
  void watch(const std::stop_token& stop);
  void find_processes();
  void look(int wait_ms);
  void note_end(pid_t pid, int descriptor);
  void add(const BadEnd& end);

  std::map<ProcessKey, int> descriptors_;
  mutable std::mutex mutex_;
  std::vector<BadEnd> ends_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace rankscope::collectors
