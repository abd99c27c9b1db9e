// How recorded processes end, seen from outside: a process that a signal kills cannot say so itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "rankscope/core/time.h"
#include "spool/file_names.h"
#include "spool/segment_names.h"

namespace rankscope::collectors {

/// The end of one process.
struct ProcessEnd {
  ProcessKey process;
  int wait_status = 0;       ///< as of waitpid; 0 also if its parent had collected it and the kernel forgot it
  std::int64_t unix_ns = 0;  ///< when that was, in ns since 1970
  nanoseconds lived{0};      ///< since the process started, to a clock tick (usually 10 ms)
};

/// Waits for the ends of all processes that have a segment in a spool, or in its folder of watched processes. A thread
/// does it: whoever started the processes collects them soon after, and with them the signal that killed them.
class EndWatch {
 public:
  static constexpr std::size_t most_processes = 1024;  ///< each costs an open file; those beyond are not waited for

  explicit EndWatch(std::filesystem::path spool);
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;
  ~EndWatch();

  /// Of a process that this one has collected, maybe before the watch looked. Its status is lost otherwise.
  void note_collected(pid_t process, int wait_status);
  /// Stops waiting. Ends that were seen, the first one first.
  [[nodiscard]] std::vector<ProcessEnd> finish();

 private:
  struct Running {
    ProcessKey process;
    int file = -1;  ///< pidfd
  };
  struct Collected {
    pid_t process = 0;
    int wait_status = 0;
    std::int64_t unix_ns = 0;
  };
  void run(const std::stop_token& stop);
  void look_for_new();
  void watch(std::string_view segment);
  void wait_and_note(int milliseconds);
  void add_collected();

  std::filesystem::path spool_;
  FileNames seen_;
  std::vector<Running> running_;
  std::vector<ProcessEnd> ends_;
  std::mutex mutex_;  ///< of what is collected
  std::vector<Collected> collected_;
  int wake_ = -1;  ///< eventfd
  std::jthread thread_;
};

}  // namespace rankscope::collectors
