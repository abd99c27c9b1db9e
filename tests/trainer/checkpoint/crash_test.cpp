// Saving is killed after each of its steps: what can be loaded then is the checkpoint before or the new one, whole.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>

#include "support/temporary_folder.h"
#include "trainer/checkpoint/trained_state.h"

namespace rankscope::trainer {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using rankscope::testing::TemporaryFolder;

/// Saves in a process of its own that is killed after `stages` steps; tells whether it came to its end before.
bool saves_within(int stages, SaveOptions options, const State& state, std::int64_t step, int world) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<int> left{stages};
    options.at_stage = [&left](std::string_view) {
      if (--left == 0) ::raise(SIGKILL);
    };
    const auto results = save(options, state, step, world);
    ::_exit(results.front() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
  return WIFEXITED(status);
}

/// The step that can be loaded after all; the state of it must be `before` or `after`.
std::int64_t step_after_crash(const fs::path& folder, const State& before, const State& after) {
  auto checkpoint = Checkpoint::open(folder);
  if (!checkpoint) {
    ADD_FAILURE() << checkpoint.error().message;
    return -1;
  }
  EXPECT_TRUE(checkpoint->verify());
  const State state = loaded(*checkpoint, before);
  EXPECT_TRUE(equal(state, before) || equal(state, after));
  return equal(state, before) ? 1 : 2;
}

void expect_clean(const fs::path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator{folder})
    EXPECT_TRUE(entry.path().extension() != ".tmp" && entry.path().extension() != ".old") << entry.path();
}

TEST(KilledSaving, LeavesTheCheckpointBeforeOrTheNewOne) {
  const State before = state_of(1);
  const State after = state_of(2);
  int stage = 0;
  int loaded_before = 0;
  int loaded_after = 0;
  for (bool ended = false; !ended;) {
    const TemporaryFolder folder;
    ASSERT_TRUE(save({folder.path(), 1}, before, 10).front());
    ended = saves_within(++stage, {folder.path(), 1}, after, 20, 1);
    (step_after_crash(folder.path(), before, after) == 1 ? loaded_before : loaded_after) += 1;
    ASSERT_TRUE(save({folder.path(), 1}, after, 20).front()) << "saving goes on after a crash at stage " << stage;
    EXPECT_EQ(saved_steps(folder.path()), std::vector<std::int64_t>{20});
    expect_clean(folder.path());
  }
  EXPECT_GE(loaded_before, 15);
  EXPECT_GE(loaded_after, 4);
}

TEST(KilledSaving, OfTheSameStepLeavesOneOfTheTwo) {
  const State before = state_of(1);
  const State after = state_of(2);
  int stage = 0;
  for (bool ended = false; !ended;) {
    const TemporaryFolder folder;
    ASSERT_TRUE(save({folder.path(), 1}, before, 10, 2).front());
    ended = saves_within(++stage, {folder.path(), 1}, after, 10, 1);
    const std::int64_t which = step_after_crash(folder.path(), before, after);
    EXPECT_TRUE(!ended || which == 2);
    // A second crash at the same place must not take the last one away either.
    if (!ended) saves_within(stage, {folder.path(), 1}, after, 10, 1);
    step_after_crash(folder.path(), before, after);
    ASSERT_TRUE(save({folder.path(), 1}, after, 10).front());
    expect_clean(folder.path());
  }
  EXPECT_GE(stage, 20);
}

TEST(KilledSaving, OfTheFirstCheckpointLeavesNoneOrAWholeOne) {
  const State state = state_of(1);
  int stage = 0;
  int absent = 0;
  for (bool ended = false; !ended;) {
    const TemporaryFolder folder;
    ended = saves_within(++stage, {folder.path()}, state, 10, 1);
    auto checkpoint = Checkpoint::open(folder.path());
    if (checkpoint) {
      EXPECT_TRUE(equal(loaded(*checkpoint, state), state));
      continue;
    }
    ++absent;
    EXPECT_EQ(checkpoint.error().kind, ErrorKind::unreadable);
    EXPECT_TRUE(checkpoint.error().message.starts_with(folder.path().string())) << checkpoint.error().message;
  }
  EXPECT_GE(absent, 15);
  EXPECT_GE(stage - absent, 2);
}

TEST(KilledSaving, OfSeveralRanksLeavesTheCheckpointBeforeOrTheNewOne) {
  const State before = state_of(1);
  const State after = state_of(2);
  int stage = 0;
  for (bool ended = false; !ended;) {
    const TemporaryFolder folder;
    ASSERT_TRUE(save({folder.path(), 1}, before, 10, 4).front());
    ended = saves_within(++stage, {folder.path(), 1}, after, 20, 3);
    step_after_crash(folder.path(), before, after);
    ASSERT_TRUE(save({folder.path(), 1}, after, 20, 2).front());
    EXPECT_EQ(Checkpoint::open(folder.path()).value().manifest().files.size(), 2u) << "files of a third rank stayed";
    expect_clean(folder.path());
  }
  EXPECT_GE(stage, 30);
}

}  // namespace
}  // namespace rankscope::trainer
