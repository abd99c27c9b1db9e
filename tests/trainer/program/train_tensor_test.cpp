// Layers that are split over ranks must compute what one process computes: fp64; and say what they send.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::HasSubstr;

constexpr double tolerance = 1e-10;
const std::string gpt =
    "--model gpt --dtype f64 --steps 10 --global-batch 8 --layers 2 --hidden 16 --heads 4 --seq 8 --samples 64 ";
const std::string mlp = "--model mlp --dtype f64 --steps 10 --global-batch 8 --hidden 12 ";

const std::vector<StepGradients>& reference(const std::string& model) {
  static std::map<std::string, std::vector<StepGradients>> known;
  const auto [found, added] = known.try_emplace(model);
  if (added) found->second = gradients_of(model + "--parallel single");
  return found->second;
}

class TrainTensorGpt : public ::testing::TestWithParam<const char*> {};

TEST_P(TrainTensorGpt, HasTheGradientsAndLossesOfOneProcess) {
  EXPECT_LE(largest_difference(gradients_of(gpt + GetParam()), reference(gpt)), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Ranks, TrainTensorGpt,
                         ::testing::Values("--parallel tp --ranks 2", "--parallel tp --ranks 4",
                                           "--parallel tp --ranks 2 --accumulate 2",
                                           "--parallel tp --ranks 2 --optimizer sgd --pace 20",
                                           "--parallel tp+sp --ranks 2", "--parallel tp+sp --ranks 4",
                                           "--parallel tp+sp --ranks 2 --accumulate 2",
                                           "--parallel tp+sp --ranks 4 --accumulate 4"));

class TrainTensorMlp : public ::testing::TestWithParam<const char*> {};

// Whether the last layer has a partner depends on their number.
TEST_P(TrainTensorMlp, HasTheGradientsAndLossesOfOneProcess) {
  for (const char* layers : {"--layers 1 ", "--layers 2 ", "--layers 3 "}) {
    const std::string model = mlp + layers;
    EXPECT_LE(largest_difference(gradients_of(model + GetParam()), reference(model)), tolerance) << layers;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, TrainTensorMlp,
                         ::testing::Values("--parallel tp --ranks 2", "--parallel tp --ranks 4",
                                           "--parallel tp --ranks 2 --accumulate 2",
                                           "--parallel tp --ranks 3 --accumulate 4"));

TEST(TrainTensor, OnOneRankIsOneProcess) {
  EXPECT_EQ(largest_difference(gradients_of(gpt + "--parallel tp --ranks 1"), reference(gpt)), 0);
  EXPECT_EQ(largest_difference(gradients_of(gpt + "--parallel tp+sp --ranks 1"), reference(gpt)), 0);
}

TEST(TrainTensor, TrainsATinyGptWithoutAnyOtherOption) {
  const ProgramResult result = train("--parallel tp+sp --ranks 2 --steps 2");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("tp+sp on 2 ranks: gpt with 134912 parameters (f32)"));
  EXPECT_THAT(result.out, HasSubstr("global batch 8 = 8 on all 2 ranks x 1 micro-step"));
}

/// Operations of one step: "allreduce 8192 f32" -> how often.
using Operations = std::map<std::string, int>;

std::vector<Operations> operations_per_step(const std::vector<Call>& calls) {
  std::vector<Operations> steps;
  for (const auto& call : calls) {
    const auto& w = call.words;
    if (call.thread == "main" && w[0] == "push" && w[1] == "step") steps.emplace_back();
    if (w[0] != "enqueued" || steps.empty()) continue;
    EXPECT_EQ(w[2], "tp");
    ++steps.back()[w[4] + " " + w[5] + " " + w[6]];
  }
  return steps;
}

std::string operation(const char* op, std::int64_t elements) {
  return std::string{op} + " " + std::to_string(4 * elements) + " f32";
}

// Per layer and micro-batch 4 sums of b x s x h; and one each for embedding and head. With a split
// sequence each is a reduce-scatter and a gather, and columns gather their input again.
constexpr std::int64_t b = 4;
constexpr std::int64_t s = 8;
constexpr std::int64_t h = 16;
constexpr int layers = 3;
const std::string sizes =
    "--model gpt --steps 3 --batch-per-device 4 --seq 8 --hidden 16 --heads 4 --layers 3 --pace off ";

TEST(TrainTensorRecording, SendsWhatTheFormulaSays) {
  for (const int ranks : {2, 4}) {
    const Recorded recorded = train_recorded(sizes + "--parallel tp", ranks);
    ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
    for (const auto& calls : recorded.ranks) {
      const auto steps = operations_per_step(calls);
      ASSERT_EQ(steps.size(), 3u);
      const Operations expected{{operation("allreduce", b * s * h), 4 * layers + 2},
                                {operation("allreduce", b * s), 3}};
      EXPECT_EQ(steps[0], expected);
      EXPECT_EQ(steps[1], expected);
    }
  }
}

TEST(TrainTensorRecording, SendsWhatTheFormulaSaysWithASplitSequence) {
  constexpr int accumulate = 2;
  for (const int ranks : {2, 4}) {
    const Recorded recorded = train_recorded(sizes + "--parallel tp+sp --accumulate 2", ranks);
    ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
    // Two norms and two biases of rows per layer, the last norm, and positions.
    const std::int64_t terms = (6 * layers + 2 + s) * h;
    for (const auto& calls : recorded.ranks) {
      const auto steps = operations_per_step(calls);
      ASSERT_EQ(steps.size(), 3u);
      const Operations expected{{operation("reduce_scatter", b * s * h / ranks), accumulate * (4 * layers + 2)},
                                {operation("allgather", b * s * h / ranks), accumulate * (6 * layers + 3)},
                                {operation("allreduce", b * s), accumulate * 3},
                                {operation("allreduce", terms), 1}};
      EXPECT_EQ(steps[0], expected);
      EXPECT_EQ(steps[1], expected);
    }
  }
}

TEST(TrainTensorRecording, AnMlpSumsOncePerPairAndPass) {
  const Recorded recorded = train_recorded("--model mlp --parallel tp --steps 2 --hidden 64 --pace off", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  // Samples need no gradient: the first pair has no sum in backward.
  for (const auto& calls : recorded.ranks)
    EXPECT_EQ(operations_per_step(calls).front(), (Operations{{operation("allreduce", 8 * 64), 3}}));
}

/// Names of the spans of a kind.
std::set<std::string> spans_of(const std::vector<Call>& calls, const std::string& kind) {
  std::set<std::string> names;
  for (const auto& call : calls)
    if (call.words[0] == "push" && call.words[1] == kind) names.insert(call.words[2]);
  return names;
}

std::map<std::string, std::string> notes_of(const std::vector<Call>& calls) {
  std::map<std::string, std::string> notes;
  for (const auto& call : calls)
    if (call.words[0] == "metadata") notes[call.words[1]] = call.words.size() > 2 ? call.words[2] : "";
  return notes;
}

TEST(TrainTensorRecording, NamesLayerAndPassOfWhatIsWaitedFor) {
  const Recorded plain = train_recorded("--parallel tp --steps 1 --pace off", 2);
  ASSERT_EQ(plain.result.status, 0) << plain.result.err;
  const auto waits = spans_of(plain.ranks[1], "wait");
  for (const char* name :
       {"embedding.token forward", "layer0.out forward", "layer1.down forward", "loss largest logit", "loss sum of exp",
        "loss target logit", "head.linear backward", "layer0.up backward", "layer0.qkv backward"})
    EXPECT_TRUE(waits.contains(std::string{"wait allreduce "} + name)) << name;
  const Recorded sequence = train_recorded("--parallel tp+sp --steps 1 --pace off", 2);
  ASSERT_EQ(sequence.result.status, 0) << sequence.result.err;
  const auto more = spans_of(sequence.ranks[0], "wait");
  for (const char* name :
       {"allgather layer0.qkv forward", "allgather layer0.qkv input again", "reduce_scatter layer0.qkv backward",
        "reduce_scatter layer0.out forward", "allgather layer0.out backward", "allreduce terms of gradients"})
    EXPECT_TRUE(more.contains(std::string{"wait "} + name)) << name;
}

TEST(TrainTensorRecording, TellsWhichPartARankHas) {
  const Recorded recorded = train_recorded("--parallel tp+sp --steps 1 --pace off", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    auto notes = notes_of(recorded.ranks[rank]);
    EXPECT_EQ(notes["tp_rank"], std::to_string(rank));
    EXPECT_EQ(notes["tp_size"], "2");
    EXPECT_EQ(notes["sequence_parallel"], "yes");
    EXPECT_EQ(notes["parameters"], "134912") << "of the whole model";
  }
}

/// Median over the steps of what a rank computes, without what it waits for.
double own_milliseconds(const std::vector<Call>& calls) {
  std::vector<double> own = milliseconds_per_step(calls, "forward");
  const auto backward = milliseconds_per_step(calls, "backward");
  const auto waits = milliseconds_per_step(calls, "wait");
  for (std::size_t i = 0; i < own.size(); ++i) own[i] += backward[i] - waits[i];
  return median(own);
}

TEST(TrainTensorFaults, ASlowRankComputesByItsFactorLongerAndTheOtherWaits) {
  const Recorded recorded = train_recorded("--parallel tp --steps 8 --pace 80 --fault slow:rank=1,factor=1.5", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  EXPECT_NEAR(own_milliseconds(recorded.ranks[1]) / own_milliseconds(recorded.ranks[0]), 1.5, 0.1);
  EXPECT_GT(median(milliseconds_per_step(recorded.ranks[0], "wait")),
            2 * median(milliseconds_per_step(recorded.ranks[1], "wait")));
}

/// For each step, milliseconds from enqueued to started of its first operation.
std::vector<double> first_delays(const std::vector<Call>& calls) {
  std::vector<double> delays;
  std::string first;
  std::int64_t enqueued = 0;
  for (const auto& call : calls) {
    const auto& w = call.words;
    if (call.thread == "main" && w[0] == "push" && w[1] == "step") {
      delays.push_back(0);
      first.clear();
    }
    if (delays.empty()) continue;
    if (w[0] == "enqueued" && first.empty()) {
      first = w[1];
      enqueued = call.ns;
    }
    if (w[0] == "started" && w[1] == first) delays.back() = static_cast<double>(call.ns - enqueued) / 1e6;
  }
  return delays;
}

TEST(TrainTensorFaults, ACommFaultDelaysTheFirstOperationOfTheStep) {
  const Recorded recorded = train_recorded("--parallel tp+sp --steps 6 --pace 40 --fault comm:rank=0,ms=20", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  EXPECT_GE(median(first_delays(recorded.ranks[0])), 20);
  EXPECT_LT(median(first_delays(recorded.ranks[1])), 15);
  for (const auto& calls : recorded.ranks)
    EXPECT_GE(median(milliseconds_per_step(calls, "wait")), 15) << "the delay must be exposed on both ranks";
}

TEST(TrainTensorFaults, ALostRankIsNamed) {
  const ProgramResult killed =
      train("--parallel tp --ranks 3 --model mlp --hidden 12 --steps 5 --fault kill:rank=1,step=2");
  EXPECT_EQ(killed.status, 137);
  EXPECT_THAT(killed.err, HasSubstr("rank 1 is gone"));
  EXPECT_EQ(killed.err.find("Exception raised"), std::string::npos) << "no stack frames: " << killed.err;
  const ProgramResult ended = train("--parallel tp+sp --ranks 2 --steps 5 --fault exit:rank=1,step=2");
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("rank 1 is gone"));
}

class TrainTensorBadInput : public ::testing::TestWithParam<Refused> {};

TEST_P(TrainTensorBadInput, IsRefusedInOneSentence) {
  const ProgramResult result = train(std::string{"--parallel "} + GetParam().options);
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr(GetParam().sentence));
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

INSTANTIATE_TEST_SUITE_P(
    Options, TrainTensorBadInput,
    ::testing::Values(
        Refused{"tp --ranks 2 --model resnet18",
                "--model resnet18 has layers that cannot be split; use --model gpt or --model mlp"},
        Refused{"tp+sp --ranks 2 --model resnet50",
                "--model resnet50 has layers that cannot be split; use --model gpt"},
        Refused{"tp+sp --ranks 2 --model mlp",
                "--model mlp has no sequence to split; use --model gpt, or --parallel tp"},
        Refused{"tp --ranks 3", "a vocabulary of 256 tokens cannot be shared equally by 3 ranks; use 2, 4 or 8 ranks"},
        Refused{"tp --ranks 4 --heads 2", "--heads 2 cannot be shared equally by 4 ranks; give --heads 4"},
        Refused{"tp --ranks 3 --heads 3 --hidden 48", "a vocabulary of 256 tokens cannot be shared equally by 3 ranks"},
        Refused{"tp+sp --ranks 4 --seq 10", "--seq 10 cannot be shared equally by 4 ranks; give --seq 8 or 12"},
        Refused{"tp --ranks 4 --model mlp --hidden 10",
                "--hidden 10 cannot be shared equally by 4 ranks; give --hidden 8 or 12"},
        Refused{"tp --ranks 2 --model mlp --unused-head", "--unused-head: only for --parallel single, ddp,"},
        Refused{"tp --ranks 2 --bucket-mb 1",
                "--bucket-mb: only for --parallel single, ddp, ddp+mp, zero1, zero2, tile and 3d, not for tp"},
        Refused{"tp --ranks 2 --devices 2", "only for --parallel dp, mp and ddp+mp, not for tp"},
        Refused{"tp --ranks 1 --fault comm:rank=0,ms=5", "with one rank there is no communication"}));

}  // namespace
}  // namespace rankscope::testing
