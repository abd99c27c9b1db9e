// Several devices in one process compute what one does: fp64, no BatchNorm, no dropout; and say what
// they do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double tolerance = 1e-10;
const std::string small = "--dtype f64 --steps 10 --global-batch 16 --layers 4 --hidden 12 ";

const std::vector<StepGradients>& reference() {
  static const auto steps = gradients_of(small + "--parallel single");
  return steps;
}

class TrainDevicesParity : public ::testing::TestWithParam<const char*> {};

TEST_P(TrainDevicesParity, HasTheGradientsAndLossesOfOneProcess) {
  EXPECT_LE(largest_difference(gradients_of(small + GetParam()), reference()), tolerance);
}

INSTANTIATE_TEST_SUITE_P(All, TrainDevicesParity,
                         ::testing::Values("--parallel mp", "--parallel mp --devices 4 --accumulate 2",
                                           "--parallel mp --split 4,1 --pace 20", "--parallel dp",
                                           "--parallel dp --devices 4", "--parallel dp --accumulate 2 --pace 20",
                                           "--parallel ddp+mp --bucket-mb 0.02 --ranks 2",
                                           "--parallel ddp+mp --bucket-mb 0.02 --ranks 4 --pace 20",
                                           "--parallel ddp+mp --bucket-mb 0.02 --ranks 2 --devices 3 --accumulate 4"));

std::vector<Call> recorded(const std::string& options) {
  const Recorded run = train_recorded("--steps 3 --layers 4 --hidden 12 --batch-per-device 8 " + options, 1);
  EXPECT_EQ(run.result.status, 0) << run.result.err;
  return run.ranks[0];
}

/// When a device computed, first to last.
struct Stretch {
  std::string device;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
std::vector<Stretch> computed(const std::vector<Call>& calls) {
  std::map<std::string, std::vector<Stretch>> open;  // by thread
  std::vector<Stretch> all;
  for (const auto& call : calls) {
    if (!call.thread.starts_with("device")) continue;
    if (call.words[0] == "push")
      open[call.thread].push_back(
          {call.words[1] == "forward" || call.words[1] == "backward" ? call.thread : "", call.ns, 0});
    if (call.words[0] != "pop") continue;
    Stretch stretch = open[call.thread].back();
    open[call.thread].pop_back();
    stretch.end = call.ns;
    if (!stretch.device.empty()) all.push_back(stretch);
  }
  std::ranges::sort(all, {}, &Stretch::begin);
  return all;
}

bool overlap(const std::vector<Stretch>& all) {
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].begin < all[i - 1].end) return true;
  return false;
}

TEST(TrainDevicesRecording, OfAChainOnlyOneDeviceIsBusyAtATime) {
  const auto stretches = computed(recorded("--parallel mp --devices 3 --pace 30"));
  EXPECT_EQ(stretches.size(), 3u * 2 * 3) << "forward and backward of 3 devices in 3 steps";
  EXPECT_FALSE(overlap(stretches));
}

TEST(TrainDevicesRecording, ReplicasComputeSideBySide) {
  EXPECT_TRUE(overlap(computed(recorded("--parallel dp --devices 3 --pace 30"))));
}

/// Bytes of each kind of copy between devices, over the run.
std::map<std::string, std::int64_t> copied(const std::vector<Call>& calls) {
  std::map<std::string, std::int64_t> bytes;
  for (const auto& call : calls)
    if (call.words[0] == "enqueued" && call.words[2] == "devices") bytes[call.words[4]] += std::stoll(call.words[5]);
  return bytes;
}

std::int64_t parameters_of(const std::vector<Call>& calls) {
  for (const auto& call : calls)
    if (call.words[0] == "metadata" && call.words[1] == "parameters") return std::stoll(call.words[2]);
  return 0;
}

// (n - 1) times the parameters out of device 0 and back into it in every step, and the batch.
TEST(TrainDevicesRecording, EverythingOfReplicasGoesThroughDeviceZero) {
  const auto calls = recorded("--parallel dp --devices 3 --pace off");
  const std::int64_t parameters = 3 * 2 * 4 * parameters_of(calls);  // steps x (n - 1) x sizeof
  ASSERT_GT(parameters, 0);
  auto bytes = copied(calls);
  EXPECT_EQ(bytes["broadcast"], parameters);
  EXPECT_EQ(bytes["reduce"], parameters);
  const std::int64_t outputs = 3 * 2 * 8 * 10 * 4;  // steps x (n - 1) x samples x classes x sizeof
  EXPECT_EQ(bytes["gather"], outputs);
  EXPECT_EQ(bytes["scatter"], outputs + 3 * 2 * 8 * 784 * 4);
  std::set<std::string> threads;
  for (const auto& call : calls)
    if (call.words[0] == "enqueued") threads.insert(call.thread);
  EXPECT_EQ(threads, std::set<std::string>{"device 0"});
}

// b x h elements per boundary and direction.
TEST(TrainDevicesRecording, AChainHandsOnActivationsAndGradients) {
  const std::map<std::string, std::int64_t> expected{{"copy", 3 * 2 * 2 * 8 * 12 * 4}};
  EXPECT_EQ(copied(recorded("--parallel mp --devices 3 --pace off")), expected);
}

class TrainDevicesUsed : public ::testing::TestWithParam<const char*> {};

TEST_P(TrainDevicesUsed, EachHasComputed) {
  const ProgramResult result = train(std::string{"--layers 3 --steps 4 --pace off --parallel "} + GetParam());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("all 4 devices computed, "));
  EXPECT_THAT(result.err, Not(HasSubstr("had nothing to compute")));
}

INSTANTIATE_TEST_SUITE_P(Modes, TrainDevicesUsed,
                         ::testing::Values("dp --devices 4", "mp --devices 4", "ddp --ranks 4",
                                           "ddp+mp --ranks 2 --devices 2", "pp --ranks 4"));

class TrainDevicesBadInput : public ::testing::TestWithParam<Refused> {};

TEST_P(TrainDevicesBadInput, IsRefusedInOneSentence) {
  const ProgramResult result = train(GetParam().options);
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr(GetParam().sentence));
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

INSTANTIATE_TEST_SUITE_P(
    Options, TrainDevicesBadInput,
    ::testing::Values(
        Refused{"--parallel mp --devices 4 --layers 2", "4 devices cannot share the 3 blocks of the model mlp"},
        Refused{"--parallel mp --split 1,2,2", "it has 3 parts, but the number of devices is 2"},
        Refused{"--parallel mp --ranks 2", "--parallel mp runs on one rank, not on 2"},
        Refused{"--parallel dp --global-batch 9", "--global-batch 9 cannot be divided evenly among 2 devices"},
        Refused{"--parallel ddp --devices 2", "--devices: only for --parallel dp, mp and ddp+mp, not for ddp"},
        Refused{"--parallel dp --split 1,2", "--split: only for --parallel mp, ddp+mp, pp and 3d, not for dp"},
        Refused{"--parallel dp --unused-head",
                "--unused-head: only for --parallel single, ddp, zero1, zero2, zero3 and tile, not for dp"},
        Refused{"--parallel ddp+mp --find-unused",
                "--ddp-impl c10d and --find-unused: only for --parallel single, ddp and tile, not for ddp+mp"},
        Refused{"--parallel mp --ddp-impl c10d", "only for --parallel single, ddp and tile, not for mp"},
        Refused{"--parallel mp --fault comm:rank=0,ms=60", "with one rank there is no communication to delay"}));

}  // namespace
}  // namespace rankscope::testing
