// ZeRO computes what one process computes (fp64, no BatchNorm, no dropout), sends the bytes and holds the
// memory of docs/zero.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr double tolerance = 1e-10;
const std::string common = "--dtype f64 --steps 10 --global-batch 16 --weight-decay 0.1 ";
const std::string mlp = common + "--model mlp --layers 2 --hidden 12 ";
const std::string gpt = common + "--model gpt --layers 2 --hidden 16 --heads 2 --seq 8 ";
const std::string sgd = "--optimizer sgd --lr 0.01 ";
const std::string adamw = "--optimizer adamw ";

const std::vector<StepGradients>& reference(const std::string& options) {
  static std::map<std::string, std::vector<StepGradients>> all;
  const auto [place, added] = all.try_emplace(options);
  if (added) place->second = gradients_of(options + "--parallel single");
  return place->second;
}

struct Job {
  std::string name;
  std::string options;
};

std::vector<Job> jobs() {
  std::vector<Job> all;
  for (const auto& [model, options_of_model] : {Job{"Mlp", mlp}, Job{"Gpt", gpt}}) {
    all.push_back({model + "Sgd", options_of_model + sgd});
    all.push_back({model + "Adamw", options_of_model + adamw});
  }
  return all;
}

class TrainZeroParity : public ::testing::TestWithParam<std::tuple<int, Job, const char*>> {};

TEST_P(TrainZeroParity, HasTheGradientsAndLossesOfOneProcess) {
  const auto& [stage, job, spread] = GetParam();
  const std::string buckets = stage < 3 ? "--bucket-mb 0.001 " : "";
  const auto steps = gradients_of(job.options + buckets + "--parallel zero" + std::to_string(stage) + " " + spread);
  ASSERT_EQ(steps.size(), 10u);
  EXPECT_NE(steps.front().loss, steps.back().loss);
  EXPECT_LE(largest_difference(steps, reference(job.options)), tolerance);
}

INSTANTIATE_TEST_SUITE_P(All, TrainZeroParity,
                         ::testing::Combine(::testing::Values(1, 2, 3), ::testing::ValuesIn(jobs()),
                                            ::testing::Values("--ranks 2", "--ranks 4 --accumulate 2")),
                         [](const auto& job) {
                           const std::string spread = std::get<2>(job.param);
                           return "Stage" + std::to_string(std::get<0>(job.param)) + std::get<1>(job.param).name +
                                  (spread.find("accumulate") == std::string::npos ? "On2" : "Accumulated2On4");
                         });

INSTANTIATE_TEST_SUITE_P(OfOneModel, TrainZeroParity,
                         ::testing::Combine(::testing::Values(1, 2, 3), ::testing::Values(Job{"MlpSgd", mlp + sgd}),
                                            ::testing::Values("--ranks 4", "--ranks 2 --accumulate 4 --pace 20",
                                                              "--ranks 1", "--ranks 1 --accumulate 2")));

// BatchNorm normalizes the batch of each rank, so the comparison is with ddp, whose statistics come from rank 0, too.
TEST(TrainZeroBatchNorm, ResnetTrainsAsDdpDoes) {
  const std::string resnet = "--model resnet18 --dtype f64 --steps 4 --batch-per-device 4 --ranks 2 ";
  const auto ddp = gradients_of(resnet + "--parallel ddp");
  ASSERT_EQ(ddp.size(), 4u);
  for (const char* mode : {"zero1", "zero2", "zero3"})
    EXPECT_LE(largest_difference(gradients_of(resnet + "--parallel " + mode), ddp), tolerance) << mode;
}

// ---- what is sent ----

std::vector<std::vector<Call>> recorded(const std::string& options, int ranks) {
  const Recorded run = train_recorded(options + " --pace off", ranks);
  EXPECT_EQ(run.result.status, 0) << run.result.err;
  return run.ranks;
}

/// Bytes of the collectives that a rank enqueued within each step, by operation; the losses of all ranks left out.
std::vector<std::map<std::string, std::int64_t>> bytes_per_step(const std::vector<Call>& calls) {
  std::vector<std::map<std::string, std::int64_t>> steps;
  for (const Call& call : calls) {
    if (call.words[0] == "push" && call.words[1] == "step") steps.emplace_back();
    if (call.words[0] == "metadata" && call.words[1] == "device_cpu_seconds") break;  // no step follows
    if (call.words[0] != "enqueued" || steps.empty() || call.words[4] == "allreduce" || call.words[4] == "barrier")
      continue;
    EXPECT_EQ(call.words[2], "dp");
    steps.back()[call.words[4]] += std::stoll(call.words[5]);
  }
  return steps;
}

struct Traffic {
  const char* options;
  int ranks;
  std::int64_t gathered;  // elements of the own part, in one step
  std::int64_t reduced;
};

class TrainZeroTraffic : public ::testing::TestWithParam<Traffic> {};

// The own parts of 784 x 12 + 12, 12 x 12 + 12 and 12 x 10 + 10 parameters. In each step ZeRO-1 and -2 gather and
// reduce them once, ZeRO-2 reduces in each micro-step, and ZeRO-3 gathers twice and reduces once in each micro-step.
constexpr std::int64_t of_two = 9420 / 2 + 156 / 2 + 130 / 2;
constexpr std::int64_t of_four = 9420 / 4 + 156 / 4 + 132 / 4;  // 130 and 2 of padding

TEST_P(TrainZeroTraffic, IsThatOfTheFormulaWithPadding) {
  const Traffic& expected = GetParam();
  const auto ranks =
      recorded(std::string{"--dtype f64 --layers 2 --hidden 12 --steps 3 "} + expected.options, expected.ranks);
  for (const auto& calls : ranks) {
    const auto steps = bytes_per_step(calls);
    ASSERT_EQ(steps.size(), 3u);
    const std::map<std::string, std::int64_t> bytes{{"allgather", expected.gathered * 8},
                                                    {"reduce_scatter", expected.reduced * 8}};
    for (const auto& step : steps) EXPECT_EQ(step, bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, TrainZeroTraffic,
    ::testing::Values(Traffic{"--bucket-mb 0.001 --parallel zero1", 2, of_two, of_two},
                      Traffic{"--bucket-mb 0.001 --parallel zero1 --accumulate 2", 4, of_four, of_four},
                      Traffic{"--bucket-mb 0.001 --parallel zero2", 4, of_four, of_four},
                      Traffic{"--bucket-mb 0.001 --parallel zero2 --accumulate 3", 2, of_two, 3 * of_two},
                      Traffic{"--parallel zero3", 4, 2 * of_four, of_four},
                      Traffic{"--parallel zero3 --accumulate 2", 2, 4 * of_two, 2 * of_two}));

TEST(TrainZeroTraffic, OneRankSendsNothing) {
  for (const char* mode : {"zero1", "zero2", "zero3"}) {
    const auto ranks = recorded(std::string{"--layers 2 --hidden 12 --steps 2 --parallel "} + mode, 1);
    EXPECT_TRUE(std::ranges::none_of(ranks[0], [](const Call& call) { return call.words[0] == "enqueued"; })) << mode;
  }
}

// ---- what a recording says ----

std::set<std::string> names_of(const std::vector<Call>& calls, const std::string& kind) {
  std::set<std::string> names;
  for (const Call& call : calls)
    if (call.words[0] == "push" && call.words[1] == kind) names.insert(call.words[2]);
  return names;
}

TEST(TrainZeroRecording, SaysWhatIsWaitedFor) {
  const std::vector<std::string> stage{"metadata", "zero_stage", "1"};
  const auto first = recorded("--dtype f64 --layers 2 --hidden 12 --steps 2 --bucket-mb 0.001 --parallel zero1", 2)[1];
  EXPECT_THAT(names_of(first, "wait"), Contains("wait reduce_scatter bucket 2"));
  EXPECT_THAT(names_of(first, "wait"), Contains("wait allgather parameters of bucket 0"));
  EXPECT_TRUE(std::ranges::any_of(first, [&](const Call& call) { return call.words == stage; }));
}

TEST(TrainZeroRecording, NamesUnitsAndTheirPass) {
  const auto calls = recorded("--layers 2 --hidden 12 --steps 2 --parallel zero3", 2)[1];
  const std::set<std::string> units{"unit 0 forward",  "unit 1 forward",  "unit 2 forward",
                                    "unit 0 backward", "unit 1 backward", "unit 2 backward"};
  EXPECT_EQ(names_of(calls, "user"), units);
  EXPECT_THAT(names_of(calls, "wait"), Contains("wait allgather unit 1 forward"));
  EXPECT_THAT(names_of(calls, "wait"), Contains("wait allgather unit 1 backward"));
  EXPECT_THAT(names_of(calls, "wait"), Contains("wait reduce_scatter unit 0 backward"));
}

// The next unit is on its way before the present one computes.
TEST(TrainZeroRecording, TheNextUnitIsGatheredWhileOneComputes) {
  const auto calls = recorded("--layers 2 --hidden 12 --steps 1 --parallel zero3", 2)[0];
  std::vector<std::string> gathered;  // enqueued before each unit computes
  std::int64_t open = 0;
  for (const Call& call : calls) {
    if (call.words[0] == "enqueued" && call.words[4] == "allgather") ++open;
    if (call.words[0] == "push" && call.words[1] == "user") gathered.push_back(std::to_string(open));
  }
  EXPECT_THAT(gathered, ::testing::ElementsAre("2", "3", "3", "5", "6", "6"));
}

// ---- what is held ----

struct Memory {
  std::vector<double> steady;  // after each step
  double peak = 0;
};

Memory memory_of(const std::vector<Call>& calls) {
  Memory memory;
  for (const Call& call : calls) {
    if (call.words[0] != "counter") continue;
    if (call.words[1] == "allocated_bytes") memory.steady.push_back(std::stod(call.words[2]));
    if (call.words[1] == "peak_allocated_bytes") memory.peak = std::stod(call.words[2]);
  }
  return memory;
}

// 16 layers of 512: units of 1 MiB, and one of 1.5 MiB.
constexpr double parameters = 784 * 512 + 512 + 15 * (512 * 512 + 512) + 512 * 10 + 10;
constexpr double unit = 784 * 512 + 512;

struct Share {
  int stage;
  double steady;  // bytes per parameter on 2 ranks
  double peak;
  double units;  // that are there for a moment
  const char* type = "f32";
};
void PrintTo(const Share& share, std::ostream* out) { *out << "zero" << share.stage << " " << share.type; }

class TrainZeroMemory : public ::testing::TestWithParam<Share> {};

TEST_P(TrainZeroMemory, IsThatOfTheFormula) {
  const Share& share = GetParam();
  const auto ranks = recorded("--model mlp --layers 16 --hidden 512 --batch-per-device 1 --optimizer adamw --steps 4 " +
                                  ("--parallel zero" + std::to_string(share.stage) + " --dtype " + share.type),
                              2);
  for (const auto& calls : ranks) {
    const Memory memory = memory_of(calls);
    ASSERT_EQ(memory.steady.size(), 4u);
    for (const double bytes : memory.steady)
      EXPECT_NEAR(bytes / parameters, share.steady, 0.001 * share.steady) << bytes;
    const double peak = share.peak * parameters + share.units * 4 * unit;
    EXPECT_NEAR(memory.peak / peak, 1, 0.05) << memory.peak;
  }
}

// fp32: 4 bytes of parameters, 4 of gradients, 8 of adamw's state. In mixed precision half a unit comes on top, which
// is the gradient of its weight before it is cast.
INSTANTIATE_TEST_SUITE_P(All, TrainZeroMemory,
                         ::testing::Values(Share{1, 4 + 8.0 / 2, 8 + 8.0 / 2, 1},
                                           Share{2, 4 + 8.0 / 2, 4 + 12.0 / 2, 2}, Share{3, 12.0 / 2, 16.0 / 2, 2},
                                           Share{1, 4 + 8.0 / 2, 8 + 8.0 / 2, 1.5, "bf16"},
                                           Share{2, 4 + 8.0 / 2, 4 + 12.0 / 2, 2.5, "bf16"},
                                           Share{3, 12.0 / 2, 16.0 / 2, 2.5, "bf16"}));

// ---- what it refuses ----

class TrainZeroBadInput : public ::testing::TestWithParam<Refused> {};

TEST_P(TrainZeroBadInput, IsRefusedInOneSentence) {
  const ProgramResult result = train(GetParam().options);
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr(GetParam().sentence));
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

INSTANTIATE_TEST_SUITE_P(
    Options, TrainZeroBadInput,
    ::testing::Values(
        Refused{"--ranks 2 --parallel zero1 --find-unused", "not for zero1"},
        Refused{"--ranks 2 --parallel zero2 --ddp-impl c10d", "not for zero2"},
        Refused{"--ranks 2 --parallel zero3 --bucket-mb 1",
                "--bucket-mb: only for --parallel single, ddp, ddp+mp, zero1, zero2, tile and 3d, not for zero3"},
        Refused{"--ranks 2 --parallel zero4", "no such mode"},
        Refused{"--ranks 1 --parallel zero1 --fault comm:rank=0,ms=60", "with one rank there is no communication"}));

TEST(TrainZeroUnused, AParameterWithoutAGradientIsNamed) {
  for (const char* mode : {"zero1", "zero2", "zero3"}) {
    const ProgramResult result =
        train(std::string{"--ranks 2 --layers 2 --hidden 12 --steps 4 --unused-head --parallel "} + mode);
    EXPECT_EQ(result.status, 2) << mode;
    EXPECT_THAT(result.err, HasSubstr("auxiliary.linear")) << mode;
    EXPECT_THAT(result.err, HasSubstr("--parallel ddp --find-unused")) << mode;
  }
}

}  // namespace
}  // namespace rankscope::testing
