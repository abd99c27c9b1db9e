// Processes that are watched from outside, and which of them record themselves.
#include "launch/watcher.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "rankscope/core/recording/manifest.h"
#include "recorded.h"
#include "spool/segment_names.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

/// A process with a rank that lives as long as this object.
class RankedProcess {
 public:
  RankedProcess() : process_(fork()) {
    if (process_ != 0) return;
    const char* const environment[] = {"RANK=0", "WORLD_SIZE=1", nullptr};
    execle("/bin/sleep", "sleep", "60", nullptr, environment);
    _exit(127);
  }
  RankedProcess(const RankedProcess&) = delete;
  RankedProcess& operator=(const RankedProcess&) = delete;
  ~RankedProcess() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return process_; }

 private:
  pid_t process_;
};

/// Of the recorder in a process with this pid that began at that moment.
void put_segment(const Folder& spool, pid_t process, std::uint64_t start) {
  std::ofstream{spool / (host_name() + "-" + std::to_string(process) + "-" + std::to_string(start) + ".rseg")};
}

/// Samples until it leaves a segment, for as long as it should have taken.
std::size_t watched_segments(const Folder& spool, const RankedProcess& process) {
  const auto count = [&] {
    const fs::directory_iterator outside{spool / recording::outside_folder};
    return static_cast<std::size_t>(std::distance(fs::begin(outside), fs::end(outside)));
  };
  Watcher watcher{spool.path(), process.pid()};
  for (int tries = 0; tries < 40 && count() == 0; ++tries) {
    watcher.sample();
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  watcher.finish(0);
  return count();
}

TEST(Watcher, AProcessIsNotTakenForAnEarlierOneWithItsPid) {
  const Folder spool;
  const RankedProcess process;
  put_segment(spool, process.pid(), 1);
  EXPECT_EQ(watched_segments(spool, process), 1U);
}

TEST(Watcher, AProcessThatRecordsItselfLeavesNoOtherSegment) {
  const Folder spool;
  const RankedProcess process;
  put_segment(spool, process.pid(), start_of(process.pid()));
  EXPECT_EQ(watched_segments(spool, process), 0U);
}

}  // namespace
}  // namespace rankscope::collectors
