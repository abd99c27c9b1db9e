// Ranks that stand still, compute nonsense or are damaged: one clear sentence, and nothing that was saved is lost.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <thread>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

const std::string mlp = "--steps 8 --pace off ";

std::size_t times(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class Hanging : public ::testing::TestWithParam<std::string> {};
TEST_P(Hanging, ARankIsNamedByThoseThatWaitForIt) {
  const ProgramResult result = train(mlp + "--timeout 2 --fault hang:rank=1,step=3 " + GetParam());
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rank 1 has not answered for 2 s"));
  EXPECT_THAT(result.err, Not(HasSubstr("is gone")));
}
INSTANTIATE_TEST_SUITE_P(Modes, Hanging, ::testing::Values("--ranks 4", "--parallel pp --ranks 3"));

TEST(NotANumber, NamesTheRankAndTheStepAndDoesNotApplyIt) {
  const ScratchFolder folder;
  const std::string saving = mlp + "--ranks 2 --save-every 2 --checkpoints " + folder.path("saved");
  const ProgramResult result = train(saving + " --fault nan:rank=1,step=5");
  EXPECT_EQ(result.status, 4) << result.err;
  EXPECT_THAT(result.err, HasSubstr("step 5: the loss of rank 1 is nan, so training ends here"));
  const ProgramResult resumed = train(saving + " --resume");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("resumed after 4 steps"));
}

TEST(NotANumber, HappensWhereALossIs) {
  const std::string pipeline = mlp + "--parallel pp --ranks 2 --fault ";
  EXPECT_THAT(train(pipeline + "nan:rank=1,step=3").err, HasSubstr("step 3: the loss of rank 1 is nan"));
  const ProgramResult refused = train(pipeline + "nan:rank=0,step=3");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("rank 0 computes no loss; only ranks with the last stage do"));
}

TEST(NotANumber, ALossThatOverflowsIsFoundWithoutAFault) {
  const ProgramResult result = train("--parallel single --steps 40 --pace off --lr 1e30");
  EXPECT_EQ(result.status, 4) << result.out;
  EXPECT_THAT(result.err, HasSubstr("so training ends here; try a smaller --lr"));
}

TEST(NotANumber, OfAllRanksIsSaidOnce) {
  for (const char* mode : {"--ranks 4", "--parallel zero2 --ranks 3", "--parallel tp --model mlp --ranks 4"}) {
    const ProgramResult result = train(std::string{"--steps 40 --pace off --lr 1e30 "} + mode);
    EXPECT_EQ(result.status, 4) << mode << result.err;
    EXPECT_EQ(times("so training ends here", result.err), 1u) << mode << result.err;
    EXPECT_THAT(result.err, HasSubstr(" other ranks reported the same")) << mode;
  }
}

TEST(DamagedCopy, IsNamedOnceWhereMostAgree) {
  for (const char* mode :
       {"--ranks 4", "--parallel 3d --ranks 6 --dp 3 --pp 2", "--model cnn --parallel tile --ranks 4"}) {
    const ProgramResult result = train(mlp + "--check-replicas 2 --fault corrupt:rank=1,step=3 " + mode);
    EXPECT_EQ(result.status, 4) << mode << result.err;
    EXPECT_EQ(
        times("after 4 steps the copies of the model are not the same: rank 1 differs from the other", result.err), 1u)
        << mode << result.err;
  }
}

TEST(DamagedCopy, OfTwoItIsSaidThatTheyDiffer) {
  const ProgramResult result = train(mlp + "--ranks 2 --check-replicas 1 --fault corrupt:rank=1,step=3");
  EXPECT_THAT(result.err, HasSubstr("ranks 0 and 1 differ, and nothing shows which of them is right"));
}

TEST(DamagedCopy, IsNeverSaved) {
  const ScratchFolder folder;
  const std::string saving = mlp + "--ranks 3 --save-every 2 --checkpoints " + folder.path("saved");
  EXPECT_EQ(train(saving + " --fault corrupt:rank=2,step=4").status, 4);
  EXPECT_TRUE(fs::exists(folder.path("saved") + "/step-00000004"));
  EXPECT_FALSE(fs::exists(folder.path("saved") + "/step-00000006"));
}

TEST(DamagedCopy, CopiesThatAreWellAreLeftAlone) {
  const ProgramResult result = train(mlp + "--ranks 4 --check-replicas 1");
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST(DamagedCopy, IsOnlyForModesWithCopies) {
  for (const char* options : {"--fault corrupt:rank=0,step=1", "--check-replicas 1"})
    for (const char* mode : {"zero2", "tp", "pp"}) {
      const ProgramResult result = train(mlp + "--ranks 2 --parallel " + mode + " " + options);
      EXPECT_EQ(result.status, 2) << mode << result.err;
      EXPECT_THAT(result.err, HasSubstr("only for --parallel ddp, ddp+mp, tile and 3d, not for"));
    }
}

TEST(DamagedCopy, OfWhichThereIsOnlyOneIsRefused) {
  for (const char* options : {"--fault corrupt:rank=0,step=1", "--check-replicas 1"})
    for (const char* mode : {"ddp --ranks 1", "tile --model cnn --ranks 1", "3d --ranks 2 --dp 1 --pp 2"}) {
      const ProgramResult result = train(mlp + "--parallel " + mode + " " + options);
      EXPECT_EQ(result.status, 2) << mode << result.err;
      EXPECT_THAT(result.err, HasSubstr("there is only one copy of the model and nothing to compare it with"));
    }
}

/// The program with all its ranks as one group of processes.
class Started {
 public:
  explicit Started(const std::string& options) {
    std::vector<std::string> words{RANKSCOPE_TRAIN};
    std::istringstream text{options};
    for (std::string word; text >> word;) words.push_back(word);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      setpgid(0, 0);
      const int nowhere = open("/dev/null", O_WRONLY);
      dup2(nowhere, 1);
      dup2(nowhere, 2);
      execv(arguments.front(), arguments.data());
      _exit(127);
    }
    setpgid(pid_, pid_);
  }
  /// True if it was still running.
  [[nodiscard]] bool kill_all() const {
    int status = 0;
    kill(-pid_, SIGKILL);
    waitpid(pid_, &status, 0);
    return WIFSIGNALED(status);
  }

 private:
  pid_t pid_ = 0;
};

struct Moment {
  std::string name;
  std::string file;  ///< of the third checkpoint, whose appearance is the moment
};
void PrintTo(const Moment& moment, std::ostream* out) { *out << moment.name; }

class KilledWhileSaving : public ::testing::TestWithParam<Moment> {};

/// The third checkpoint is on its way as far as that file, or further.
bool comes_to(const std::string& file, const std::string& folder) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes{2};
  while (!fs::exists(folder + "/" + file) && !fs::exists(folder + "/step-00000003")) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST_P(KilledWhileSaving, ResumesToTheLastBit) {
  for (const char* mode : {"--ranks 2 ", "--parallel zero3 --ranks 2 "}) {
    const std::string options =
        std::string{"--layers 2 --hidden 64 --global-batch 8 --samples 40 --pace off --steps 6 "} + mode;
    const ScratchFolder folder;
    const auto whole = gradients_of(options + "--checkpoints " + folder.path("undisturbed"));
    ASSERT_EQ(whole.size(), 6u);
    const std::string saving = options + "--save-every 1 --checkpoints " + folder.path("saved");
    const Started training{saving + " --timeout 300 --fault hang:rank=1,step=3"};  // however late it is killed
    const bool came = comes_to(GetParam().file, folder.path("saved"));
    EXPECT_TRUE(training.kill_all());
    ASSERT_TRUE(came);
    const ProgramResult resumed = train(saving + " --resume --dump-gradients " + folder.path("gradients"));
    ASSERT_EQ(resumed.status, 0) << resumed.err;
    auto rest = read_gradients(folder.path("gradients"));
    EXPECT_GE(rest.size(), 3u) << "three steps at most were saved";
    EXPECT_LE(rest.size(), 4u) << "two steps at least were saved";
    EXPECT_EQ(largest_difference(rest, {whole.end() - static_cast<std::ptrdiff_t>(rest.size()), whole.end()}), 0)
        << mode;
  }
}

INSTANTIATE_TEST_SUITE_P(Moments, KilledWhileSaving,
                         ::testing::Values(Moment{"folder", "step-00000003.tmp"},
                                           Moment{"first_file", "step-00000003.tmp/rank-00000.safetensors"},
                                           Moment{"manifest", "step-00000003.tmp/manifest.json"},
                                           Moment{"named", "step-00000003"}),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace rankscope::testing
