// A training that goes on from a checkpoint must be the one that was never interrupted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::HasSubstr;

constexpr int steps = 7;
const std::string mlp = "--dtype f64 --layers 3 --hidden 12 --global-batch 8 --samples 40 --bucket-mb 0.01 --pace off ";
const std::string gpt =
    "--model gpt --layers 2 --hidden 8 --heads 2 --seq 4 --global-batch 8 --samples 40 --optimizer adamw --pace off ";
const std::string cnn = "--model cnn --global-batch 4 --samples 24 --pace off ";

std::string with_steps(int count) { return "--steps " + std::to_string(count) + " "; }

/// Those of the steps from `first` on.
std::vector<StepGradients> tail(std::vector<StepGradients> all, std::size_t first) {
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(first, all.size())));
  return all;
}

/// Trains to `kill_step`, where rank 0 is killed, then goes on; what the second run did, from its first step.
struct Resumed {
  std::size_t first = 0;
  std::vector<StepGradients> gradients;
  std::string log;
};
Resumed killed_and_resumed(const std::string& options, const std::string& resumed_options, int kill_step) {
  const ScratchFolder folder;
  const std::string saving = "--checkpoints " + folder.path("saved") + " --save-every 2 " + with_steps(steps);
  const ProgramResult killed = train(options + saving + "--fault kill:rank=0,step=" + std::to_string(kill_step));
  EXPECT_NE(killed.status, 0);
  Resumed resumed;
  const ProgramResult result =
      train(resumed_options + saving + "--resume --log-every 1 --dump-gradients " + folder.path("gradients"));
  EXPECT_EQ(result.status, 0) << result.err;
  resumed.gradients = read_gradients(folder.path("gradients"));
  resumed.first = static_cast<std::size_t>(steps) - resumed.gradients.size();
  resumed.log = result.out + result.err;
  return resumed;
}

struct ResumeCase {
  std::string name;
  std::string options;
};
void PrintTo(const ResumeCase& c, std::ostream* out) { *out << c.name; }

class TrainResume : public ::testing::TestWithParam<ResumeCase> {};

TEST_P(TrainResume, IsEqualToTheLastBitAfterAKillAtAnyStep) {
  const ScratchFolder folder;
  const auto whole = gradients_of(GetParam().options + with_steps(steps) + "--checkpoints " + folder.path("saved"));
  for (const int kill_step : {3, 4, 6}) {
    const Resumed resumed = killed_and_resumed(GetParam().options, GetParam().options, kill_step);
    EXPECT_EQ(resumed.first, static_cast<std::size_t>(kill_step / 2 * 2)) << "the latest even step";
    EXPECT_EQ(largest_difference(resumed.gradients, tail(whole, resumed.first)), 0) << "killed in step " << kill_step;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, TrainResume,
    ::testing::Values(
        ResumeCase{"single", mlp + "--parallel single "}, ResumeCase{"ddp", mlp + "--ranks 2 "},
        ResumeCase{"ddp_4_ranks", gpt + "--ranks 4 "},
        ResumeCase{"ddp_accumulating", mlp + "--ranks 2 --accumulate 2 "},
        ResumeCase{"ddp_batch_norm", cnn + "--ranks 2 "}, ResumeCase{"dp", cnn + "--parallel dp "},
        ResumeCase{"mp", gpt + "--parallel mp "}, ResumeCase{"pp", gpt + "--parallel pp --ranks 2 --schedule zb-v "},
        ResumeCase{"tp", gpt + "--parallel tp --ranks 2 "}, ResumeCase{"tp_sp", gpt + "--parallel tp+sp --ranks 2 "},
        ResumeCase{"zero1", gpt + "--parallel zero1 --ranks 2 "},
        ResumeCase{"zero2", mlp + "--parallel zero2 --ranks 4 "},
        ResumeCase{"zero3", gpt + "--parallel zero3 --ranks 2 "},
        ResumeCase{"tile", cnn + "--parallel tile --ranks 2 "}, ResumeCase{"mixed", gpt + "--dtype bf16 --ranks 2 "},
        ResumeCase{"mixed_zero3", gpt + "--dtype bf16 --parallel zero3 --ranks 2 "},
        ResumeCase{"mixed_pp", gpt + "--dtype bf16 --parallel pp --ranks 2 --schedule zb-v "},
        ResumeCase{"mesh", gpt + "--parallel 3d --ranks 4 --dp 2 --tp 2 --micro-batches 2 --zero1 "}),
    [](const auto& c) { return c.param.name; });

struct ReshardCase {
  std::string name;
  std::string before;
  std::string after;
};
void PrintTo(const ReshardCase& c, std::ostream* out) { *out << c.name; }

class TrainReshard : public ::testing::TestWithParam<ReshardCase> {};

// Sums over other numbers of ranks round differently, so only the state itself is equal to the last bit.
TEST_P(TrainReshard, GoesOnWithAnotherNumberOfRanks) {
  const auto whole = gradients_of(GetParam().before + with_steps(steps));
  const Resumed resumed = killed_and_resumed(GetParam().before, GetParam().after, 5);
  EXPECT_EQ(resumed.first, 4u);
  EXPECT_LE(largest_difference(resumed.gradients, tail(whole, resumed.first)), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Modes, TrainReshard,
                         ::testing::Values(ReshardCase{"ddp_2_to_4", mlp + "--ranks 2 ", mlp + "--ranks 4 "},
                                           ReshardCase{"ddp_4_to_1", mlp + "--ranks 4 ", mlp + "--ranks 1 "},
                                           ReshardCase{"zero1_4_to_2", mlp + "--parallel zero1 --ranks 4 ",
                                                       mlp + "--parallel zero1 --ranks 2 "},
                                           ReshardCase{"zero2_2_to_4", mlp + "--parallel zero2 --ranks 2 ",
                                                       mlp + "--parallel zero2 --ranks 4 "},
                                           ReshardCase{"zero2_to_ddp", mlp + "--parallel zero2 --ranks 4 ",
                                                       mlp + "--ranks 2 "}),
                         [](const auto& c) { return c.param.name; });

TEST(TrainRestart, ALostRankCostsOnlyWhatWasNotSaved) {
  const ScratchFolder folder;
  const auto whole = gradients_of(mlp + "--ranks 2 " + with_steps(steps));
  const ProgramResult result =
      train(mlp + "--ranks 2 --checkpoints " + folder.path("saved") + " --save-every 2 --restarts 1 " +
            with_steps(steps) + "--fault kill:rank=1,step=5 --dump-gradients " + folder.path("gradients"));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("restarting all ranks (restart 1 of 1)"));
  EXPECT_THAT(result.out + result.err, HasSubstr("resumed after 4 steps"));
  EXPECT_EQ(largest_difference(read_gradients(folder.path("gradients")), tail(whole, 4)), 0);
}

TEST(TrainRestart, HappensNoMoreOftenThanAsked) {
  const ProgramResult result = train(mlp + "--ranks 2 --restarts 2 --steps 4 --dump-gradients /nowhere/gradients");
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("restarting all ranks (restart 2 of 2)"));
  EXPECT_EQ(result.err.find("3 of"), std::string::npos);
  EXPECT_EQ(train(mlp + "--ranks 2 --steps 4 --fault exit:rank=1,step=2").err.find("again"), std::string::npos);
}

TEST(TrainRestart, DoesNotTakeWhatAnotherRunHasSaved) {
  const ScratchFolder folder;
  const std::string saving = mlp + "--ranks 2 --steps 4 --checkpoints " + folder.path("saved");
  ASSERT_EQ(train(saving).status, 0);
  const ProgramResult again = train(saving + " --restarts 1");
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("already contains the checkpoint of step 4"));
  EXPECT_THAT(train(saving + " --resume").err, HasSubstr("training has already completed 4 steps"));
}

struct BadResume {
  std::string saved;
  std::string resumed;
  std::string says;
};

TEST(TrainResumeErrors, ACheckpointOfSomethingElseIsNamed) {
  const std::string rest = "--layers 2 --samples 40 --pace off ";
  const std::vector<BadResume> cases{
      {rest + "--hidden 12 --global-batch 8 ", rest + "--hidden 16 --global-batch 8 ", "layer0.linear.weight"},
      {rest + "--global-batch 8 ", rest + "--global-batch 8 --optimizer adamw ", "adamw"},
      {rest + "--model gpt --seq 8 --heads 4 ", rest + "--model gpt --seq 8 --heads 2 ", "heads"},
      {rest + "--global-batch 8 ", rest + "--global-batch 10 ", "--global-batch 8"},
  };
  for (const BadResume& bad : cases) {
    const ScratchFolder folder;
    const std::string saving = "--parallel single --steps 4 --checkpoints " + folder.path("saved");
    ASSERT_EQ(train(bad.saved + saving).status, 0);
    const ProgramResult result = train(bad.resumed + saving + " --resume");
    EXPECT_EQ(result.status, 2) << bad.resumed << result.err;
    EXPECT_THAT(result.err, HasSubstr(bad.says));
  }
}

TEST(TrainResumeErrors, NothingSavedIsSaid) {
  const ScratchFolder folder;
  const ProgramResult result =
      train(mlp + "--parallel single --steps 2 --resume --checkpoints " + folder.path("saved"));
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr(folder.path("saved")));
  EXPECT_THAT(train(mlp + "--parallel single --resume").err, HasSubstr("--checkpoints FOLDER"));
}

TEST(TrainResumeErrors, ADamagedFileIsNamed) {
  const ScratchFolder folder;
  const std::string saving = mlp + "--parallel single --checkpoints " + folder.path("saved");
  ASSERT_EQ(train(saving + " --steps 4").status, 0);
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path("saved")))
    if (entry.path().extension() == ".safetensors") file = entry.path();
  ASSERT_FALSE(file.empty());
  {
    std::fstream stream{file, std::ios::in | std::ios::out | std::ios::binary};
    stream.seekp(-1, std::ios::end);
    stream.put('\x55');
  }
  const ProgramResult result = train(saving + " --steps 6 --resume");
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr(file.filename().string()));
}

}  // namespace
}  // namespace rankscope::testing
