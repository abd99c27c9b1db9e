#include "rankscope/trainer/launch/gpu_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace rankscope::trainer {
namespace {

using ::testing::HasSubstr;

TrainOptions wanting(DeviceWish wish, const char* mode = "ddp", int devices = 1) {
  TrainOptions options;
  options.mode = &mode_named(mode);
  options.devices = devices;
  options.device.wish = wish;
  return options;
}

Placement place(int local_rank, int local_ranks, const char* source = "rankscope") {
  return {.rank = local_rank,
          .world_size = local_ranks,
          .local_rank = local_rank,
          .local_world_size = local_ranks,
          .source = source};
}

std::optional<int> gpu_of(const TrainOptions& options, const Placement& at, int gpus) {
  return choose_gpu(options, at, {.devices = gpus}).value().first;
}

std::string refusal(const TrainOptions& options, const Placement& at, const GpuDriver& driver) {
  const auto choice = choose_gpu(options, at, driver);
  return choice ? "" : choice.error().message;
}

TEST(GpuPlan, EachRankHasTheGpuOfItsLocalRank) {
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(gpu_of(wanting(DeviceWish::automatic), place(rank, 4), 4), rank);
}

TEST(GpuPlan, ARankOfAModeWithDevicesHasThatMany) {
  EXPECT_EQ(gpu_of(wanting(DeviceWish::cuda, "ddp+mp", 2), place(1, 2), 4), 2);
  EXPECT_EQ(gpu_of(wanting(DeviceWish::cuda, "dp", 2), place(0, 1), 8), 0);
}

TEST(GpuPlan, ATaskThatSeesOnlyItsOwnGpuTakesIt) {
  EXPECT_EQ(gpu_of(wanting(DeviceWish::cuda), place(3, 4, "Slurm"), 1), 0);
}

TEST(GpuPlan, WithoutGpusItIsTheCpuAndNothingIsSaid) {
  const auto choice = choose_gpu(wanting(DeviceWish::automatic), place(0, 2), {}).value();
  EXPECT_EQ(choice.first, std::nullopt);
  EXPECT_EQ(choice.reason, "");
}

TEST(GpuPlan, WithTooFewGpusItIsTheCpuAndThatIsSaid) {
  const auto choice = choose_gpu(wanting(DeviceWish::automatic), place(0, 4), {.devices = 1}).value();
  EXPECT_EQ(choice.first, std::nullopt);
  EXPECT_EQ(choice.reason,
            "4 ranks with 1 GPU per rank: 4 GPUs are needed here, but there is 1; use fewer ranks, or --share-gpu for "
            "a test");
  EXPECT_EQ(choose_gpu(wanting(DeviceWish::automatic), place(0, 1), {.problem = "it is broken"}).value().reason,
            "it is broken");
}

TEST(GpuPlan, WhoAsksForTheCpuHearsOfNoGpu) {
  const auto choice = choose_gpu(wanting(DeviceWish::cpu), place(0, 1), {.devices = 1}).value();
  EXPECT_EQ(choice.first, std::nullopt);
  EXPECT_EQ(choice.reason, "");
}

TEST(GpuPlan, GpusThatWereAskedForAreNotReplaced) {
  const TrainOptions options = wanting(DeviceWish::cuda);
  EXPECT_EQ(refusal(options, place(0, 1), {}), "--device cuda: this process sees no NVIDIA GPU");
  EXPECT_EQ(refusal(options, place(0, 1), {.problem = "it is broken"}), "--device cuda: it is broken");
  EXPECT_THAT(refusal(options, place(0, 3), {.devices = 2}),
              HasSubstr("3 ranks with 1 GPU per rank: 3 GPUs are needed"));
  EXPECT_THAT(
      refusal(wanting(DeviceWish::cuda, "mp", 2), place(0, 1), {.devices = 1}),
      HasSubstr("1 rank with 2 GPUs per rank: 2 GPUs are needed here, but there is 1; use fewer ranks or devices"));
  EXPECT_EQ(choose_gpu(options, place(0, 1), {}).error().kind, ErrorKind::usage);
}

TEST(GpuPlan, RanksShareGpusOnlyWhereThatIsAllowed) {
  TrainOptions options = wanting(DeviceWish::cuda);
  options.device.share_gpu = true;
  std::vector<int> gpus;
  for (int rank = 0; rank < 5; ++rank) gpus.push_back(gpu_of(options, place(rank, 5), 2).value());
  EXPECT_EQ(gpus, (std::vector{0, 1, 0, 1, 0}));
  Placement of_two_hosts = place(0, 2);
  of_two_hosts.world_size = 4;
  EXPECT_THAT(refusal(options, of_two_hosts, {.devices = 1}), HasSubstr("all ranks on one machine"));
}

TEST(GpuPlan, NcclTakesRanksThatShareForHostsOfTheirOwn) {
  std::set<std::string> hosts;
  for (int rank = 0; rank < 3; ++rank) {
    const auto variables = sharing_environment(rank);
    EXPECT_EQ(variables.front().first, "NCCL_HOSTID");
    hosts.insert(variables.front().second);
    for (const char* off : {"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_IB_DISABLE"})
      EXPECT_THAT(variables, ::testing::Contains(EnvironmentVariable{off, "1"}));
    EXPECT_THAT(variables, ::testing::Contains(EnvironmentVariable{"NCCL_SOCKET_IFNAME", "lo"}));
    EXPECT_THAT(variables, ::testing::Contains(EnvironmentVariable{"NCCL_ALGO", "Ring"}));
  }
  EXPECT_EQ(hosts.size(), 3u);
}

TEST(GpuPlan, ALostRankIsToldOfByAnExceptionAndNotByAnAbort) {
  EXPECT_THAT(gpu_environment(), ::testing::Contains(EnvironmentVariable{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0"}));
}

TEST(DeviceConflict, RanksOnGpusOfTheirOwnFitTogether) {
  const std::vector<RankDevice> ranks{{0, "a", "GPU-1"}, {1, "a", "GPU-2"}, {2, "b", "GPU-3"}};
  EXPECT_EQ(device_conflict(ranks), "");
  EXPECT_EQ(device_conflict(std::vector<RankDevice>{{0, "a", "cpu"}, {1, "a", "cpu"}}), "");
}

TEST(DeviceConflict, TwoRanksOnOneGpuAreRefusedUnlessTheyMay) {
  const std::vector<RankDevice> ranks{{0, "a", "GPU-1"}, {1, "a", "GPU-1"}};
  EXPECT_EQ(device_conflict(ranks),
            "ranks 0 and 1 use the same GPU on host a (GPU-1); give each rank its own GPU, or use --device cpu, or "
            "--share-gpu for a test");
  EXPECT_NE(device_conflict(std::vector<RankDevice>{{0, "container a", "GPU-1"}, {1, "container b", "GPU-1"}}), "");
  EXPECT_EQ(device_conflict(std::vector<RankDevice>{{0, "a", "GPU-1", true}, {1, "a", "GPU-1", true}}), "");
}

TEST(DeviceConflict, CpusAndGpusDoNotFitTogether) {
  EXPECT_EQ(device_conflict(std::vector<RankDevice>{{0, "a", "GPU-1"}, {1, "b", "cpu"}}),
            "rank 0 trains on a GPU and rank 1 on the CPU; give --device cuda or --device cpu");
}

}  // namespace
}  // namespace rankscope::trainer
