// Pipelines must compute what one process computes: fp64, no BatchNorm, no dropout; and say what they
// do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::HasSubstr;

constexpr double tolerance = 1e-10;
const std::string mlp = "--dtype f64 --steps 10 --global-batch 16 --layers 8 --hidden 12 ";
const std::string gpt = "--model gpt --dtype f64 --steps 3 --global-batch 8 --layers 6 --hidden 16 --heads 2 --seq 8 ";

const std::vector<StepGradients>& reference(const std::string& model) {
  static std::map<std::string, std::vector<StepGradients>> known;
  const auto [found, added] = known.try_emplace(model);
  if (added) found->second = gradients_of(model + "--parallel single");
  return found->second;
}

class TrainPipelineParity : public ::testing::TestWithParam<const char*> {};

TEST_P(TrainPipelineParity, HasTheGradientsAndLossesOfOneProcess) {
  EXPECT_LE(largest_difference(gradients_of(mlp + "--parallel pp " + GetParam()), reference(mlp)), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Mlp, TrainPipelineParity,
                         ::testing::Values("--ranks 1", "--ranks 2 --schedule gpipe", "--ranks 2 --schedule 1f1b",
                                           "--ranks 2 --schedule interleaved", "--ranks 2 --schedule zb-h1",
                                           "--ranks 2 --schedule zb-v",
                                           "--ranks 2 --schedule zb-interleaved --micro-batches 8",
                                           "--ranks 4 --schedule gpipe", "--ranks 4 --schedule 1f1b",
                                           "--ranks 4 --schedule interleaved", "--ranks 4 --schedule zb-h1",
                                           "--ranks 4 --schedule zb-v", "--ranks 3 --micro-batches 2 --split 6,1,2"));

class TrainPipelineGptParity : public ::testing::TestWithParam<const char*> {};

TEST_P(TrainPipelineGptParity, HasTheGradientsAndLossesOfOneProcess) {
  EXPECT_LE(largest_difference(gradients_of(gpt + "--parallel pp " + GetParam()), reference(gpt)), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Gpt, TrainPipelineGptParity,
                         ::testing::Values("--ranks 2 --schedule interleaved", "--ranks 2 --schedule zb-v",
                                           "--ranks 4 --schedule zb-h1 --micro-batches 4"));

TEST(TrainPipeline, SchedulesWithTheSameStagesAgreeToTheLastBit) {
  EXPECT_EQ(largest_difference(gradients_of(mlp + "--parallel pp --ranks 2 --schedule gpipe"),
                               gradients_of(mlp + "--parallel pp --ranks 2 --schedule 1f1b")),
            0);
}

void write_file(const std::string& path, const std::string& text) { std::ofstream{path} << text; }

TEST(TrainPipeline, FollowsAScheduleOfOnesOwn) {
  const ScratchFolder folder;
  // Stages to and fro, gradients whole and split, micro-batches out of order.
  write_file(folder.path("own.csv"),
             "0F1,0F0,2F1,2F0,2I1,2B0,0I1,2W1,0B0,0W1\n"
             "1F1,1F0,3F1,3B1,3F0,3I0,1I1,1B0,3W0,1W1\n");
  const auto own = gradients_of(mlp + "--parallel pp --ranks 2 --schedule " + folder.path("own.csv"));
  EXPECT_LE(largest_difference(own, reference(mlp)), tolerance);
}

TEST(TrainPipeline, WritesItsScheduleForOthers) {
  const ScratchFolder folder;
  const std::string path = folder.path("zb-h1.csv");
  ASSERT_EQ(train("--parallel pp --ranks 2 --steps 1 --schedule zb-h1 --pace off --write-schedule " + path).status, 0);
  std::ifstream file{path};
  std::string first;
  std::getline(file, first);
  EXPECT_EQ(first, "0F0,0F1,0I0,0W0,0F2,0I1,0W1,0F3,0I2,0W2,0I3,0W3");
}

/// What a rank marks, as a schedule's text: "0F0 0B0".
std::vector<std::string> marked(const std::vector<Call>& calls) {
  const std::map<std::string, std::string> letters{
      {"forward", "F"}, {"backward", "B"}, {"backward input", "I"}, {"backward weight", "W"}};
  std::vector<std::string> steps;
  std::string letter;
  std::string stage;
  for (const auto& call : calls) {
    const auto& words = call.words;
    if (call.thread != "main" || words.size() < 2) continue;
    if (words[0] == "push" && words[1] == "step") steps.emplace_back();
    if (words[0] == "push" && letters.contains(words[2])) letter = letters.at(words[2]);
    if (words[0] == "attribute" && words[1] == "stage") stage = words[2];
    if (words[0] == "attribute" && words[1] == "micro_batch")
      steps.back() += (steps.back().empty() ? "" : " ") + stage + letter + words[2];
  }
  return steps;
}

TEST(TrainPipelineRecording, MarksEachActionWithStageAndMicroBatchInTheOrderOfTheSchedule) {
  const Recorded recorded = train_recorded("--parallel pp --schedule zb-h1 --steps 2 --pace off", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  const std::string first = "0F0 0F1 0I0 0W0 0F2 0I1 0W1 0F3 0I2 0W2 0I3 0W3";
  const std::string second = "1F0 1I0 1F1 1I1 1W0 1F2 1I2 1W1 1F3 1I3 1W2 1W3";
  EXPECT_EQ(marked(recorded.ranks[0]), (std::vector<std::string>{first, first}));
  EXPECT_EQ(marked(recorded.ranks[1]), (std::vector<std::string>{second, second}));
}

/// Point-to-point operations of a rank: "pp forward send 768 f32 to 1" -> how often.
std::map<std::string, int> transfers(const std::vector<Call>& calls) {
  std::map<std::string, int> count;
  for (const auto& call : calls) {
    const auto& w = call.words;
    if (w[0] == "enqueued" && (w[4] == "send" || w[4] == "recv"))
      ++count[w[2] + " " + w[4] + " " + w[5] + " " + w[6] + " " + w[8]];
  }
  return count;
}

// b x h elements per boundary, micro-batch and direction, v times with interleaved stages.
TEST(TrainPipelineRecording, TellsEveryTransferWithPeerBytesAndType) {
  const std::string options = "--parallel pp --steps 3 --micro-batches 4 --batch-per-device 8 --hidden 96 --pace off ";
  const Recorded plain = train_recorded(options + "--schedule 1f1b", 2);
  ASSERT_EQ(plain.result.status, 0) << plain.result.err;
  EXPECT_EQ(transfers(plain.ranks[0]),
            (std::map<std::string, int>{{"pp forward send 768 f32 1", 12}, {"pp backward recv 768 f32 1", 12}}));
  EXPECT_EQ(transfers(plain.ranks[1]),
            (std::map<std::string, int>{{"pp forward recv 768 f32 0", 12}, {"pp backward send 768 f32 0", 12}}));
  const Recorded looped = train_recorded(options + "--schedule interleaved", 2);
  ASSERT_EQ(looped.result.status, 0) << looped.result.err;
  EXPECT_EQ(transfers(looped.ranks[0]), (std::map<std::string, int>{{"pp forward send 768 f32 1", 24},
                                                                    {"pp forward recv 768 f32 1", 12},
                                                                    {"pp backward recv 768 f32 1", 24},
                                                                    {"pp backward send 768 f32 1", 12}}));
}

/// How many operations of a kind began so much later than they were enqueued.
int late_starts(const std::vector<Call>& calls, const std::string& op, std::int64_t ms) {
  std::map<std::string, std::int64_t> enqueued;
  int late = 0;
  for (const auto& call : calls) {
    if (call.words[0] == "enqueued" && call.words[4] == op) enqueued[call.words[1]] = call.ns;
    if (call.words[0] != "started" || !enqueued.contains(call.words[1])) continue;
    if (call.ns - enqueued[call.words[1]] >= ms * 1'000'000) ++late;
  }
  return late;
}

TEST(TrainPipelineFaults, ActOnTheStageOfTheirRank) {
  const Recorded recorded =
      train_recorded("--parallel pp --steps 4 --pace 40 --fault slow:rank=1,factor=2 --fault comm:rank=0,ms=60", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  const double first = median(milliseconds_per_step(recorded.ranks[0], "backward"));
  const double second = median(milliseconds_per_step(recorded.ranks[1], "backward"));
  EXPECT_GT(second, 1.5 * first) << "the stages are balanced to a fifth, and one is twice as slow";
  const int late_sends = late_starts(recorded.ranks[0], "send", 60);
  EXPECT_GE(late_sends, 4) << "the last one of each step";
  EXPECT_LT(late_starts(recorded.ranks[1], "recv", 60), late_sends);
}

TEST(TrainPipelineFaults, ALostStageIsNamed) {
  const ProgramResult result = train("--parallel pp --ranks 3 --steps 5 --pace off --fault exit:rank=1,step=2");
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.err, HasSubstr("rank 1 is gone"));
}

class TrainPipelineBadInput : public ::testing::TestWithParam<Refused> {};

TEST_P(TrainPipelineBadInput, IsRefusedInOneSentence) {
  const ProgramResult result = train(std::string{"--parallel pp "} + GetParam().options);
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr(GetParam().sentence));
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

INSTANTIATE_TEST_SUITE_P(
    Options, TrainPipelineBadInput,
    ::testing::Values(Refused{"--ranks 4 --layers 2", "4 stages cannot share the 3 blocks of the model mlp"},
                      Refused{"--ranks 2 --split 2,9", "its parts do not add up to the 5 blocks of the model mlp"},
                      Refused{"--ranks 4 --schedule interleaved --micro-batches 9",
                              "does not support --micro-batches 9; use 8 or 10"},
                      Refused{"--ranks 2 --global-batch 10",
                              "a batch of 10 samples cannot be cut into 4 micro-batches; use a batch of 8 or 12"},
                      Refused{"--ranks 2 --schedule nowhere.csv", "neither a file nor the name of a schedule"},
                      Refused{"--ranks 3 --fault data:rank=1,ms=5", "rank 1 loads no data"},
                      Refused{"--ranks 2 --accumulate 2", "a pipeline accumulates gradients over its micro-batches"}));

TEST(TrainPipelineRefuses, ItsOptionsInOtherModes) {
  const ProgramResult result = train("--parallel ddp --ranks 2 --schedule gpipe");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("only for --parallel pp and 3d, not for ddp"));
}

}  // namespace
}  // namespace rankscope::testing
