#include "settings/rank_of_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

namespace rankscope::collectors {
namespace {

/// A process with that environment that does nothing until it is killed.
class Idle {
 public:
  explicit Idle(std::vector<std::string> environment) {
    std::array<int, 2> started{};
    EXPECT_EQ(pipe2(started.data(), O_CLOEXEC), 0);
    process_ = fork();
    if (process_ == 0) become(environment);
    close(started[1]);
    char letter = 0;
    EXPECT_EQ(read(started[0], &letter, 1), 0) << "closed by exec";
    close(started[0]);
  }
  Idle(const Idle&) = delete;
  Idle& operator=(const Idle&) = delete;
  ~Idle() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  [[nodiscard]] pid_t process() const { return process_; }

 private:
  [[noreturn]] static void become(std::vector<std::string>& environment) {
    std::vector<char*> pointers;
    for (std::string& entry : environment) pointers.push_back(entry.data());
    pointers.push_back(nullptr);
    execle("/bin/sleep", "sleep", "60", nullptr, pointers.data());
    _exit(127);
  }
  pid_t process_ = -1;
};

TEST(RankOfProcess, IsThatOfItsEnvironment) {
  const Idle idle{{"XRANK=7", "RANK=3", "WORLD_SIZE=4", "LOCAL_RANK=1"}};
  const RankEnvironment rank = rank_of_process(idle.process(), {});
  EXPECT_EQ(rank.rank, 3);
  EXPECT_EQ(rank.world_size, 4);
  EXPECT_EQ(rank.local_rank, 1);
  EXPECT_EQ(rank.source, "RANK");
}

TEST(RankOfProcess, MayBeInAVariableThatTheUserNames) {
  const Idle idle{{"MY_RANK=2", "WORLD_SIZE=4"}};
  EXPECT_EQ(rank_of_process(idle.process(), {}).rank, -1);
  EXPECT_EQ(rank_of_process(idle.process(), "MY_RANK").rank, 2);
}

TEST(RankOfProcess, IsUnknownForAProcessThatIsGone) {
  pid_t gone = 0;
  {
    const Idle idle{{"RANK=3"}};
    gone = idle.process();
  }
  EXPECT_EQ(rank_of_process(gone, {}).rank, -1);
}

}  // namespace
}  // namespace rankscope::collectors
