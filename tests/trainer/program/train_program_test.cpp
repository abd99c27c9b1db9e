// The program as a user meets it: defaults, faults that end ranks, wrong options, annotations.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Train, NeedsNoOptionAndOnlyRankZeroPrints) {
  const ProgramResult result = train("--ranks 4 --steps 2");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(has(result.out, "ddp on 4 ranks")) << result.out;
  EXPECT_TRUE(has(result.out, "global batch 32 = 8 per device x 4 devices")) << result.out;
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 5) << result.out;
}

TEST(Train, EveryModelTrainsTwoSteps) {
  for (const char* model : {"resnet18", "resnet50", "resnet152", "gpt"}) {
    const ProgramResult result =
        train(std::string{"--ranks 2 --steps 2 --pace off --batch-per-device 2 --model "} + model);
    EXPECT_EQ(result.status, 0) << model << ": " << result.err;
  }
}

// Known counts of the CIFAR form: torchvision's with a 3x3 stem instead of 7x7 (7,680 weights fewer) and fewer classes.
TEST(Train, ResNetsHaveTheirKnownNumberOfParameters) {
  const ProgramResult deep = train("--parallel single --model resnet152 --scale full --batch-per-device 1 --steps 1");
  EXPECT_TRUE(has(deep.out, "resnet152 with 58341028 parameters")) << deep.out << deep.err;
  const ProgramResult small = train("--parallel single --model resnet18 --scale full --batch-per-device 1 --steps 1");
  EXPECT_TRUE(has(small.out, "resnet18 with 11173962 parameters")) << small.out << small.err;
}

// As torchrun does it: every rank is told its place, and rank 0 serves the store.
TEST(Train, IsTheRankThatALauncherSaysItIs) {
  const std::string port = std::to_string(20000 + getpid() % 10000);
  const std::string common = "WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port + " " +
                             RANKSCOPE_TRAIN + " --steps 2 --pace off";
  const ProgramResult result = run_program(
      {"/bin/sh", "-c",
       "RANK=1 LOCAL_RANK=1 " + common + " & RANK=0 LOCAL_RANK=0 " + common + "; status=$?; wait $! && exit $status"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(has(result.out, "ddp on 2 ranks")) << result.out;
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 5) << "rank 1 prints nothing: " << result.out;
}

TEST(Train, SaysWhatIsWrongAndEndsWithTheStatusOfThat) {
  const struct {
    const char* options;
    int status;
    const char* says;
  } cases[] = {
      {"--ranks 2 --parallel pipeline", 2, "ddp"},
      {"--ranks 2 --parallel single", 2, "one rank"},
      {"--ranks 2 --fault slow:rank=2,factor=2", 2, "no rank 2"},
      {"--ranks 2 --fault slo:rank=0", 2, "slow:rank=R,factor=F"},
      {"--ranks 4 --samples 3", 2, "4 ranks cannot share 3 samples"},
      {"--ranks 3 --global-batch 16", 2, "use 15 or 18"},
      {"--ranks 2 --global-batch 16 --batch-per-device 8", 2, "excludes"},
      {"--ranks 2 --data /nonexistent-folder", 2, "no such folder"},
      {"--ranks 2 --steps 5 --fault kill:rank=1,step=5", 2, "only steps 0 to 4"},
      {"--ranks 2 --steps 5 --fault pause:rank=1,ms=1,every=10", 2, "first act in step 5"},
      {"--ranks 2 --model gpt --hidden 30 --heads 4", 2, "--heads 4"},
      {"--ranks 1 --dump-gradients /nonexistent-folder/file", 5, "cannot be written"},
      {"--ranks 1 --steps 2 --dump-gradients /dev/full", 5, "/dev/full cannot be written"},
      {"--pace fast", 2, "--pace fast"},
      {"--no-such-option", 2, "--no-such-option"},
  };
  for (const auto& c : cases) {
    const ProgramResult result = train(c.options);
    EXPECT_EQ(result.status, c.status) << c.options << ": " << result.err;
    EXPECT_TRUE(has(result.err, c.says)) << c.options << ": " << result.err;
  }
}

TEST(Train, APortInUseIsSaidWithStatus5) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  ASSERT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const ProgramResult launched = train("--ranks 2 --master-port " + port);
  EXPECT_EQ(launched.status, 5);
  EXPECT_TRUE(has(launched.err, "port " + port)) << launched.err;
  const ProgramResult rank = train("", {"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port});
  EXPECT_EQ(rank.status, 5);
  EXPECT_TRUE(has(rank.err, "port " + port + " is in use")) << rank.err;
  close(fd);
}

struct Loss {
  const char* fault;
  std::size_t rank;
  int status;
};
void PrintTo(const Loss& loss, std::ostream* out) { *out << loss.fault; }
class TrainLoss : public ::testing::TestWithParam<Loss> {};

// Times are taken between the last sign of the lost rank and that of the others: starting takes long on a busy machine.
TEST_P(TrainLoss, TheOthersNameTheLostRankAndEndWithinAMinute) {
  const Recorded recorded = train_recorded(std::string{"--steps 50 --fault "} + GetParam().fault, 4);
  const std::string lost = std::to_string(GetParam().rank);
  EXPECT_EQ(recorded.result.status, GetParam().status) << recorded.result.err;
  EXPECT_TRUE(has(recorded.result.err, "rank " + lost + " is gone")) << recorded.result.err;
  EXPECT_FALSE(has(recorded.result.err, "Exception raised")) << "no stack frames: " << recorded.result.err;
  ASSERT_FALSE(recorded.ranks[GetParam().rank].empty());
  const auto gone = recorded.ranks[GetParam().rank].back().ns;
  for (const auto& calls : recorded.ranks) {
    ASSERT_FALSE(calls.empty());
    EXPECT_LT(calls.back().ns - gone, 60'000'000'000);
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, TrainLoss,
                         ::testing::Values(Loss{"kill:rank=1,step=3", 1, 137}, Loss{"kill:rank=0,step=3", 0, 137},
                                           Loss{"exit:rank=2,step=3", 2, 3}));

// Structure of what is recorded, on every rank.
TEST(TrainAnnotations, CollectivesAgreeOnAllRanksAndRunInOrder) {
  const Recorded recorded = train_recorded("--steps 4 --pace 30", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  std::vector<std::vector<std::string>> described;
  for (const auto& calls : recorded.ranks) {
    std::vector<std::string> collectives;
    std::vector<std::string> started;
    std::vector<std::string> finished;
    for (const auto& call : calls) {
      if (call.words[0] == "enqueued") {
        EXPECT_EQ(call.words[3], std::to_string(collectives.size())) << "sequence counts from 0";
        EXPECT_EQ(call.words[7], "0,1");
        collectives.push_back(call.words[2] + " " + call.words[4] + " " + call.words[5] + " " + call.words[6]);
      }
      if (call.words[0] == "started") started.push_back(call.words[1]);
      if (call.words[0] == "finished") finished.push_back(call.words[1]);
      const bool runs = call.words[0] == "started" || call.words[0] == "finished";
      EXPECT_TRUE(!runs || call.thread == "comm dp") << call.thread;
    }
    EXPECT_EQ(started, finished);
    EXPECT_EQ(started.size(), collectives.size());
    described.push_back(collectives);
  }
  EXPECT_EQ(described[0], described[1]);
  const auto reductions =
      std::ranges::count_if(described[0], [](const auto& d) { return d.starts_with("dp allreduce"); });
  EXPECT_GE(reductions, 8) << "several buckets in each step";
}

TEST(TrainAnnotations, AStepHasDataForwardBackwardWaitAndOptimizer) {
  const Recorded recorded = train_recorded("--steps 3 --pace 30", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  for (const auto& calls : recorded.ranks) {
    for (const char* kind : {"step", "data", "forward", "backward", "optimizer", "wait"}) {
      const auto times = milliseconds_per_step(calls, kind);
      ASSERT_EQ(times.size(), 3u) << kind;
      EXPECT_TRUE(std::ranges::all_of(times, [](double ms) { return ms > 0; })) << kind;
    }
    std::set<std::string> threads;
    std::set<std::string> keys;
    std::int64_t depth = 0;
    for (const auto& call : calls) {
      threads.insert(call.thread);
      if (call.words[0] == "metadata") keys.insert(call.words[1]);
      if (call.thread == "main") depth += call.words[0] == "push" ? 1 : call.words[0] == "pop" ? -1 : 0;
      EXPECT_TRUE(call.words[0] != "push" || call.words[1] != "op" || call.thread == "main")
          << "operators of comm threads";
    }
    EXPECT_EQ(depth, 0);
    EXPECT_TRUE(threads.contains("main") && threads.contains("comm dp") && threads.contains("loader 0"));
    for (const char* key : {"role", "parallel", "model", "parameters", "global_batch", "batch_per_device", "dtype",
                            "data", "pace_ms", "torch_version"}) {
      EXPECT_TRUE(keys.contains(key)) << key;
    }
  }
}

// Ratios against the peers in the same run: absolute times mean nothing on a shared machine.
double of_rank(const Recorded& recorded, std::size_t rank, const std::string& kind) {
  return median(milliseconds_per_step(recorded.ranks[rank], kind));
}

TEST(TrainFaults, ASlowRankComputesByItsFactorLonger) {
  const Recorded recorded = train_recorded("--steps 8 --pace 60 --fault slow:rank=1,factor=1.5", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  EXPECT_NEAR(of_rank(recorded, 1, "forward") / of_rank(recorded, 0, "forward"), 1.5, 0.1);
  EXPECT_NEAR(of_rank(recorded, 1, "backward") / of_rank(recorded, 0, "backward"), 1.5, 0.1);
  EXPECT_GT(of_rank(recorded, 0, "wait"), of_rank(recorded, 1, "wait"));
}

TEST(TrainFaults, ADataFaultIsInTheDataSpan) {
  const Recorded recorded = train_recorded("--steps 8 --pace 40 --fault data:rank=1,ms=30", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  EXPECT_GE(of_rank(recorded, 1, "data"), 30);
  EXPECT_LT(of_rank(recorded, 0, "data"), 15);
}

// Median over the steps, in ms, of the time from enqueued to started of the reduction that backward enqueues last.
double start_delay_of_last_bucket(const std::vector<Call>& calls) {
  std::map<std::string, std::int64_t> enqueued;
  std::map<std::string, double> delay;
  std::string last;
  std::vector<double> delays;
  for (const auto& call : calls) {
    if (call.words[0] == "enqueued") enqueued[last = call.words[1]] = call.ns;
    if (call.words[0] == "started") delay[call.words[1]] = static_cast<double>(call.ns - enqueued[call.words[1]]) / 1e6;
    if (call.words[0] == "push" && call.words[1] == "optimizer") delays.push_back(delay[last]);
  }
  return median(delays);
}

TEST(TrainFaults, ACommFaultLiesBetweenEnqueuedAndStarted) {
  const Recorded recorded = train_recorded("--steps 8 --pace 40 --fault comm:rank=0,ms=20", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  EXPECT_GE(start_delay_of_last_bucket(recorded.ranks[0]), 20);
  EXPECT_LT(start_delay_of_last_bucket(recorded.ranks[1]), 15);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_GE(of_rank(recorded, rank, "wait"), 15) << "the delay must be exposed on both ranks";
  }
}

}  // namespace
}  // namespace rankscope::testing
