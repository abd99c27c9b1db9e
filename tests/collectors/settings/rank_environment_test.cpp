#include "settings/rank_environment.h"

#include <gtest/gtest.h>

#include <map>

namespace rankscope::collectors {
namespace {

using Variables = std::map<std::string, std::string>;

RankEnvironment rank_in(const Variables& variables, const RankQuestion& question = {}) {
  return find_rank(
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      question);
}

RankEnvironment rank(std::int32_t rank, std::int32_t world, std::int32_t local, std::int32_t local_world,
                     std::string source) {
  return {.rank = rank,
          .world_size = world,
          .local_rank = local,
          .local_world_size = local_world,
          .source = std::move(source)};
}

const Variables slurm_task{{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "6"},
                           {"SLURM_PROCID", "5"},  {"SLURM_LOCALID", "1"},
                           {"SLURM_NODEID", "2"},  {"SLURM_STEP_TASKS_PER_NODE", "2(x3)"}};

TEST(RankEnvironment, OfTorchrun) {
  EXPECT_EQ(rank_in({{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}}),
            rank(3, 8, 1, 2, "RANK"));
}

TEST(RankEnvironment, OfASlurmStep) { EXPECT_EQ(rank_in(slurm_task), rank(5, 6, 1, 2, "SLURM_PROCID")); }

TEST(RankEnvironment, ASlurmBatchScriptIsNoRank) {
  EXPECT_EQ(rank_in({{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}, {"SLURM_NTASKS", "4"}}), RankEnvironment{});
}

TEST(RankEnvironment, SlurmsOwnStepsAreNoRanks) {
  EXPECT_EQ(rank_in({{"SLURM_STEP_ID", "4294967290"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "0"}}),
            RankEnvironment{});
}

TEST(RankEnvironment, ATaskAloneInItsStepIsARankWhereWorldSizeSaysSo) {
  Variables task{{"SLURM_STEP_ID", "0"},
                 {"SLURM_STEP_NUM_TASKS", "1"},
                 {"SLURM_PROCID", "0"},
                 {"SLURM_LOCALID", "0"},
                 {"SLURM_STEP_TASKS_PER_NODE", "1"}};
  EXPECT_EQ(rank_in(task), RankEnvironment{});
  task["WORLD_SIZE"] = "1";
  EXPECT_EQ(rank_in(task), rank(0, 1, 0, 1, "SLURM_PROCID"));
}

TEST(RankEnvironment, TorchrunInsideASlurmTaskTellsTheRankNotSlurm) {
  Variables worker = slurm_task;
  worker["RANK"] = "17";
  worker["WORLD_SIZE"] = "24";
  EXPECT_EQ(rank_in(worker), rank(17, 24, -1, -1, "RANK"));
}

TEST(RankEnvironment, TheAgentOfTorchrunInASlurmTaskIsNoRank) {
  EXPECT_EQ(rank_in(slurm_task, {.command_line = "/usr/bin/python3 /usr/bin/torchrun --nproc-per-node=4 train.py"}),
            RankEnvironment{});
  EXPECT_EQ(rank_in(slurm_task, {.command_line = "python3 -m torch.distributed.run train.py"}), RankEnvironment{});
}

TEST(RankEnvironment, ARankSetByHandIsNotThatOfTorchrunsAgent) {
  const Variables by_hand{{"RANK", "0"}, {"WORLD_SIZE", "1"}};
  EXPECT_EQ(rank_in(by_hand, {.command_line = "python /usr/bin/torchrun --nproc-per-node 2 train.py"}),
            RankEnvironment{});
  EXPECT_EQ(rank_in(by_hand, {.command_line = "python train.py"}), rank(0, 1, -1, -1, "RANK"));
  Variables worker = by_hand;
  worker["TORCHELASTIC_RUN_ID"] = "none";
  EXPECT_EQ(rank_in(worker, {.command_line = "python torchrun_demo/train.py"}), rank(0, 1, -1, -1, "RANK"));
}

TEST(RankEnvironment, AForeignWorldSizeInASlurmStepIsNotBelieved) {
  Variables task = slurm_task;
  task["WORLD_SIZE"] = "6";
  EXPECT_EQ(rank_in(task).rank, 5);
  task["WORLD_SIZE"] = "24";
  EXPECT_EQ(rank_in(task).rank, -1);
  EXPECT_EQ(rank_in(task).problem, "WORLD_SIZE is not the number of tasks of this Slurm step");
}

TEST(RankEnvironment, OfOpenMpiAndPmi) {
  EXPECT_EQ(rank_in({{"OMPI_COMM_WORLD_RANK", "1"},
                     {"OMPI_COMM_WORLD_SIZE", "4"},
                     {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
            rank(1, 4, 1, 2, "OMPI_COMM_WORLD_RANK"));
  EXPECT_EQ(rank_in({{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "0"}}), rank(2, 4, 0, -1, "PMI_RANK"));
}

TEST(RankEnvironment, ARankWithoutWorldIsARankAndSaysSo) {
  const RankEnvironment found = rank_in({{"RANK", "2"}});
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.problem, "RANK is set, but WORLD_SIZE is not set");
}

TEST(RankEnvironment, ARankBeyondTheWorldIsNone) {
  EXPECT_EQ(rank_in({{"RANK", "4"}, {"WORLD_SIZE", "4"}}),
            RankEnvironment{.problem = "RANK is not below the number of ranks"});
}

TEST(RankEnvironment, NoNumberIsNoRank) {
  EXPECT_EQ(rank_in({{"RANK", "first"}, {"WORLD_SIZE", "4"}}), RankEnvironment{});
  EXPECT_EQ(rank_in({{"RANK", "-1"}, {"WORLD_SIZE", "4"}}), RankEnvironment{});
  EXPECT_EQ(rank_in({{"RANK", "99999999999"}, {"WORLD_SIZE", "4"}}), RankEnvironment{});
}

TEST(RankEnvironment, TheNamedVariableComesFirst) {
  const Variables variables{{"MY_RANK", "2"}, {"RANK", "0"}, {"WORLD_SIZE", "4"}};
  EXPECT_EQ(rank_in(variables, {.rank_env = "MY_RANK"}), rank(2, 4, -1, -1, "MY_RANK"));
  EXPECT_EQ(rank_in(variables, {.rank_env = "ABSENT"}), RankEnvironment{});
  EXPECT_EQ(rank_in({{"MY_RANK", "x"}}, {.rank_env = "MY_RANK"}).problem,
            "MY_RANK must be a whole number of at least 0 (is \"x\")");
}

TEST(RankEnvironment, TasksPerNodeOfSlurm) {
  EXPECT_EQ(tasks_on_node("2(x3),1", 0), 2);
  EXPECT_EQ(tasks_on_node("2(x3),1", 2), 2);
  EXPECT_EQ(tasks_on_node("2(x3),1", 3), 1);
  EXPECT_EQ(tasks_on_node("2(x3),1", 4), -1);
  EXPECT_EQ(tasks_on_node("4", 0), 4);
  for (const char* wrong : {"", "x", "2(x", "2(x0)", "2(x-1),1", ","}) EXPECT_EQ(tasks_on_node(wrong, 0), -1) << wrong;
}

}  // namespace
}  // namespace rankscope::collectors
