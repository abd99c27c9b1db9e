// Mixed precision: every mode computes in bf16 what one process computes in bf16, and keeps f32 what has to be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A number of bf16 has 8 significant bits, so it is off by 2^-9 at most, and a sum of products with signs by some times
// as much of its largest term. What differs between modes is which sums are rounded.
constexpr double rounding = 1.0 / 512;
constexpr double of_losses = rounding;
constexpr double of_gradients = 24 * rounding;
constexpr double of_f32 = 1e-5;  // modes in f32 differ by less

const std::string mlp = "--model mlp --steps 10 --global-batch 16 --layers 8 --hidden 32 --pace off ";
// Where sums within layers are rounded differently, more units of a deep one end on the other side of 0.
const std::string shallow_mlp = "--model mlp --steps 10 --global-batch 16 --layers 1 --hidden 32 --lr 0.01 --pace off ";
const std::string gpt =
    "--model gpt --steps 10 --global-batch 8 --layers 6 --hidden 32 --heads 4 --seq 8 --samples 64 --pace off ";
const std::string cnn = "--model cnn --steps 10 --global-batch 8 --lr 0.01 --pace off ";

const std::vector<StepGradients>& trained(const std::string& options) {
  static std::map<std::string, std::vector<StepGradients>> known;
  const auto [found, added] = known.try_emplace(options);
  if (added) found->second = gradients_of(options);
  return found->second;
}

std::vector<StepGradients> first_step(const std::vector<StepGradients>& steps) {
  return {steps.begin(), steps.begin() + std::min<std::ptrdiff_t>(1, std::ssize(steps))};
}

/// max |a - b| / |b| over the losses of all steps.
double difference_of_losses(const std::vector<StepGradients>& a, const std::vector<StepGradients>& b) {
  if (a.size() != b.size() || a.empty()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t step = 0; step < a.size(); ++step)
    most = std::max(most, std::abs(a[step].loss - b[step].loss) / std::abs(b[step].loss));
  return most;
}

struct Mode {
  std::string name;
  std::string model;
  std::string options;
};
void PrintTo(const Mode& mode, std::ostream* out) { *out << mode.model << mode.options; }

class TrainMixedPrecision : public ::testing::TestWithParam<Mode> {};

TEST_P(TrainMixedPrecision, HasTheLossesAndGradientsOfOneProcess) {
  const auto& alone = trained(GetParam().model + "--dtype bf16 --parallel single");
  const auto shared = gradients_of(GetParam().model + "--dtype bf16 " + GetParam().options);
  ASSERT_EQ(shared.size(), 10u);
  EXPECT_LE(difference_of_losses(shared, alone), of_losses);
  EXPECT_LE(largest_difference(first_step(shared), first_step(alone)), of_gradients);
  EXPECT_GE(largest_difference(first_step(shared), first_step(trained(GetParam().model + "--parallel single"))),
            100 * of_f32)
      << "it has to be in effect";
}

INSTANTIATE_TEST_SUITE_P(
    Modes, TrainMixedPrecision,
    ::testing::Values(
        Mode{"Ddp", gpt, "--ranks 2"}, Mode{"DdpC10d", gpt, "--ranks 2 --ddp-impl c10d"},
        Mode{"DdpAccumulating", mlp, "--ranks 2 --accumulate 4"}, Mode{"DdpSyncBn", cnn, "--ranks 2 --sync-bn"},
        Mode{"Dp", gpt, "--parallel dp"}, Mode{"Mp", gpt, "--parallel mp --devices 3"},
        Mode{"DdpMp", gpt, "--parallel ddp+mp --ranks 2"}, Mode{"Zero1", gpt, "--parallel zero1 --ranks 2"},
        Mode{"Zero2", gpt, "--parallel zero2 --ranks 2 --accumulate 2"},
        Mode{"Zero3", gpt, "--parallel zero3 --ranks 4"}, Mode{"Tp", gpt, "--parallel tp --ranks 2"},
        Mode{"TpOfMlp", shallow_mlp, "--parallel tp --ranks 4"}, Mode{"TpSp", gpt, "--parallel tp+sp --ranks 4"},
        Mode{"Tile", cnn, "--parallel tile --ranks 2"}, Mode{"Tile2x2", cnn, "--parallel tile --ranks 4 --tiles 2x2"},
        Mode{"Pp", gpt, "--parallel pp --ranks 2"},
        Mode{"PpZbV", gpt, "--parallel pp --ranks 2 --schedule zb-v --micro-batches 4"},
        Mode{"PpZbH1OfMlp", mlp, "--parallel pp --ranks 4 --schedule zb-h1"},
        Mode{"Mesh", gpt, "--parallel 3d --ranks 8 --dp 2 --tp 2 --pp 2 --micro-batches 2 --zero1"},
        Mode{"MeshZbH1", gpt, "--parallel 3d --ranks 4 --tp 2 --pp 2 --micro-batches 4 --schedule zb-h1"}),
    [](const auto& mode) { return mode.param.name; });

// The mlp's activations are bf16 everywhere, so nothing is rounded that is not rounded in one process.
TEST(TrainMixedPrecisionExactly, WhatSumsInTheSameOrderAgreesToTheLastBit) {
  const std::string mixed = mlp + "--dtype bf16 ";
  const auto& alone = trained(mixed + "--parallel single");
  for (const char* mode : {"--parallel mp", "--parallel zero1 --ranks 1", "--parallel zero3 --ranks 1"})
    EXPECT_EQ(largest_difference(gradients_of(mixed + mode), alone), 0) << mode;
  EXPECT_EQ(largest_difference(gradients_of(mixed + "--parallel pp --ranks 2 --schedule gpipe"),
                               gradients_of(mixed + "--parallel pp --ranks 2 --schedule 1f1b")),
            0);
}

TEST(TrainMixedPrecision, LearnsAsF32Does) {
  for (const auto& model : {mlp, gpt, cnn}) {
    const auto& mixed = trained(model + "--dtype bf16 --parallel single");
    EXPECT_NE(mixed.back().loss, mixed.front().loss) << model;
    EXPECT_LE(difference_of_losses(mixed, trained(model + "--parallel single")), 2e-2) << model;
  }
}

std::string text_of_files(const std::string& folder, const std::string& extension) {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != extension) continue;
    std::ifstream file{entry.path(), std::ios::binary};
    text.append(std::istreambuf_iterator<char>{file}, {});
  }
  return text;
}

TEST(TrainMixedPrecisionState, IsSavedInF32AndTrainsOnInAnotherType) {
  const ScratchFolder folder;
  const std::string saving = "--optimizer adamw --parallel zero3 --ranks 2 --pace off --save-every 2 --checkpoints " +
                             folder.path("saved") + " --steps ";
  ASSERT_EQ(train(saving + "3 --dtype bf16").status, 0);
  const std::string saved = text_of_files(folder.path("saved"), ".safetensors");
  EXPECT_THAT(saved, HasSubstr(R"("dtype":"F32")"));
  EXPECT_THAT(saved, Not(HasSubstr("BF16")));
  const ProgramResult resumed = train(saving + "5 --resume");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
}

TEST(TrainMixedPrecisionRecording, NamesThePrecisionAndSendsHalfOfWhatFlows) {
  const Recorded recorded = train_recorded(
      "--dtype bf16 --parallel pp --steps 3 --micro-batches 4 --batch-per-device 8 --hidden 96 --pace off", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  std::set<std::string> sends;
  std::string dtype;
  for (const Call& call : recorded.ranks[0]) {
    if (call.words[0] == "metadata" && call.words[1] == "dtype") dtype = call.words[2];
    if (call.words[0] == "enqueued" && call.words[4] == "send") sends.insert(call.words[5] + " " + call.words[6]);
  }
  EXPECT_EQ(dtype, "bf16");
  EXPECT_EQ(sends, (std::set<std::string>{"384 bf16"})) << "2 samples of 96 elements";
  EXPECT_THAT(recorded.result.out, HasSubstr("parameters (bf16)"));
}

TEST(TrainMixedPrecisionRecording, ReducesGradientsInF32) {
  const Recorded recorded = train_recorded("--dtype bf16 --steps 2 --pace off", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  std::set<std::string> types;
  for (const Call& call : recorded.ranks[0])
    if (call.words[0] == "enqueued" && call.words[4] == "allreduce") types.insert(call.words[6]);
  EXPECT_EQ(types, (std::set<std::string>{"f32", "f64"})) << "f64 are the losses";
}

}  // namespace
}  // namespace rankscope::testing
