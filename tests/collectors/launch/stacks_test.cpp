// Samples of the line that a Python program is at. With a stand-in for PyTorch.
#include <gmock/gmock.h>

#include "launch/pytorch.h"
#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Runs a program of tests/collectors/programs/pytorch_standin. Without samples of the host, which also come from
/// processes that do not record themselves, if they live for a second.
Recorded recorded_program(const Folder& folder, Stacks stacks, std::string_view program = "wait.py") {
  const Variable modules{"PYTHONPATH", RANKSCOPE_TEST_PYTORCH};
  const Variable cache{"PYTHONDONTWRITEBYTECODE", "1"};
  return record(folder, {.command = {"python3", std::string{RANKSCOPE_TEST_PYTORCH} + "/" + std::string{program}},
                         .sample_hz = 0,
                         .pytorch = PyTorch::expected,
                         .stacks = stacks});
}

struct Told {
  std::vector<std::string> places;          ///< where the program was
  std::vector<std::string> worker_places;   ///< where its worker was
  std::vector<std::int64_t> pauses_ns;      ///< of its collector
  std::vector<std::int64_t> stands_for_ns;  ///< of each sample
  bool ended = false;                       ///< the sampler says that it sampled no more
};

Told told_of(const Run& run) {
  Told told;
  for (const Mark& mark : run.marks()) {
    const auto number = [&](std::string_view key) {
      const auto value = run.attributes_of(mark).find(run.strings().find(key));
      return value ? std::optional{value->number} : std::nullopt;
    };
    const std::string name{run.text(mark.name)};
    if (name == "samples end here") {
      told.ended = true;
      continue;
    }
    const bool sample = run.text(run.lane(mark.lane).name) == "python stacks";
    if (sample) told.stands_for_ns.push_back(number("ns").value_or(-1));
    if (sample) (number("worker") ? told.worker_places : told.places).push_back(name);
    if (name == "garbage collection") told.pauses_ns.push_back(number("ns").value_or(-1));
  }
  return told;
}

TEST(PythonStacks, AreSampledOfTheProgramAndItsWorkers) {
  SKIP_UNDER_THREAD_SANITIZER(only_main_thread);
  const Folder folder;
  const Recorded recorded = recorded_program(folder, Stacks::sampled);
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.summary.processes, 1U) << "a worker has no recording of its own";
  const Told told = told_of(*recorded.run);
  EXPECT_THAT(told.places, ::testing::Contains(HasSubstr("wait wait.py:12")).Times(Ge(3)));
  EXPECT_THAT(told.worker_places, Not(IsEmpty()));
  EXPECT_THAT(told.worker_places, Each(HasSubstr("read wait.py:15"))) << "not the line that forked it";
  EXPECT_THAT(told.stands_for_ns, Each(Ge(10'000'000)));
  EXPECT_THAT(told.pauses_ns, AllOf(Not(IsEmpty()), Each(Ge(1'000'000))));
}

TEST(PythonStacks, AreSampledFromBackwardOnWhereNoOptimizerSteps) {
  SKIP_UNDER_THREAD_SANITIZER(only_main_thread);
  const Folder folder;
  const Recorded recorded = recorded_program(folder, Stacks::sampled, "no_optimizer.py");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(told_of(*recorded.run).places, ::testing::Contains(HasSubstr("step no_optimizer.py:9")).Times(Ge(3)));
}

TEST(PythonStacks, AreLeftOutOnRequest) {
  const Folder folder;
  const Recorded recorded = recorded_program(folder, Stacks::left_out);
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const Told told = told_of(*recorded.run);
  EXPECT_THAT(told.places, IsEmpty());
  EXPECT_THAT(told.pauses_ns, IsEmpty());
  EXPECT_FALSE(exists(write_pytorch_hook(folder.path(), Stacks::left_out).value() / "rankscope_stacks.py"));
}

TEST(PythonStacks, SurviveAClosedPipeAndDamagedLinesAndLeaveNoDescriptorsInChildren) {
  SKIP_UNDER_THREAD_SANITIZER(only_main_thread);
  const Folder folder;
  const Recorded recorded = recorded_program(folder, Stacks::sampled, "damage.py");
  EXPECT_EQ(recorded.status, 0) << "a child holds on to the pipe";
  ASSERT_TRUE(recorded.run) << recorded.why;
  const Told told = told_of(*recorded.run);
  EXPECT_THAT(told.places, ::testing::Contains(HasSubstr("damaged damage.py")));
  EXPECT_THAT(told.places, ::testing::Contains(HasSubstr("closed damage.py")).Times(Ge(3)));
  EXPECT_THAT(told.worker_places, IsEmpty());
  EXPECT_TRUE(told.ended) << "nothing could be sampled any more";
}

}  // namespace
}  // namespace rankscope::collectors
