#include "rankscope/trainer/launch/placement.h"

#include <gtest/gtest.h>

#include <map>

namespace rankscope::trainer {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

Result<std::optional<Placement>> place(const Variables& variables) {
  return placement_from([&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  });
}

const Variables slurm_task{{"SLURM_JOB_ID", "77"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_STEP_NUM_TASKS", "4"},
                           {"SLURM_PROCID", "3"},
                           {"SLURM_LOCALID", "1"},
                           {"SLURM_NODEID", "1"},
                           {"SLURM_STEP_NODELIST", "n[1-2]"},
                           {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}};

TEST(Placement, NothingSetMeansThatWeLaunch) { EXPECT_EQ(place({}).value(), std::nullopt); }

TEST(Placement, TorchrunSaysAll) {
  const auto found = place({{"RANK", "5"},
                            {"WORLD_SIZE", "8"},
                            {"LOCAL_RANK", "1"},
                            {"LOCAL_WORLD_SIZE", "4"},
                            {"GROUP_RANK", "1"},
                            {"MASTER_ADDR", "head"},
                            {"MASTER_PORT", "29501"},
                            {"TORCHELASTIC_RUN_ID", "job"},
                            {"TORCHELASTIC_RESTART_COUNT", "2"}})
                         .value()
                         .value();
  EXPECT_EQ(found.rank, 5);
  EXPECT_EQ(found.local_rank, 1);
  EXPECT_EQ(found.node, 1);
  EXPECT_EQ(found.master_address, "head");
  EXPECT_EQ(found.attempt, "job/2");
  EXPECT_EQ(found.server, StoreServer::rank_zero);
}

TEST(Placement, OnlyExactlyTrueMakesEveryRankAClientOfTheAgent) {
  Variables variables{
      {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "1"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  EXPECT_EQ(place(variables).value()->server, StoreServer::agent);
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "true";
  EXPECT_EQ(place(variables).value()->server, StoreServer::rank_zero);
}

TEST(Placement, ASlurmTaskTakesItsLocalRankFromSlurmAndThePortFromTheJob) {
  const auto found = place(slurm_task).value().value();
  EXPECT_EQ(found.rank, 3);
  EXPECT_EQ(found.world_size, 4);
  EXPECT_EQ(found.local_rank, 1);
  EXPECT_EQ(found.local_world_size, 2);
  EXPECT_EQ(found.master_address, "n1");
  EXPECT_EQ(found.master_port, 10077);
}

TEST(Placement, TheBatchScriptItselfIsNoRank) {
  EXPECT_EQ(
      place({{"SLURM_JOB_ID", "77"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}, {"SLURM_NTASKS", "4"}}).value(),
      std::nullopt);
}

TEST(Placement, SlurmsOwnStepsHoldNoRanks) {
  Variables interactive = slurm_task;
  interactive["SLURM_STEP_ID"] = "4294967290";
  EXPECT_EQ(place(interactive).value(), std::nullopt);
}

TEST(Placement, ATaskAloneInItsStepLaunchesRanksItself) {
  Variables task = slurm_task;
  task["SLURM_STEP_NUM_TASKS"] = "1";
  EXPECT_EQ(place(task).value(), std::nullopt);
}

TEST(Placement, WorldSizeOfATaskAloneInItsStepMakesItRankZero) {
  const auto found = place({{"SLURM_JOB_ID", "77"},
                            {"SLURM_STEP_ID", "0"},
                            {"SLURM_STEP_NUM_TASKS", "1"},
                            {"SLURM_PROCID", "0"},
                            {"SLURM_LOCALID", "0"},
                            {"WORLD_SIZE", "1"}});
  ASSERT_TRUE(found.has_value());
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->rank, 0);
  EXPECT_EQ((*found)->world_size, 1);
}

TEST(Placement, WorldSizeAloneIsAcceptedInsideASlurmStepOfThatSize) {
  Variables variables = slurm_task;
  variables["WORLD_SIZE"] = "4";
  EXPECT_EQ(place(variables).value()->rank, 3);
  variables["WORLD_SIZE"] = "8";
  EXPECT_FALSE(place(variables));
}

TEST(Placement, MpiLaunchersAreKnown) {
  EXPECT_EQ(place({{"OMPI_COMM_WORLD_RANK", "1"},
                   {"OMPI_COMM_WORLD_SIZE", "2"},
                   {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                   {"MASTER_PORT", "29500"}})
                .value()
                ->rank,
            1);
  EXPECT_EQ(
      place({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}, {"MASTER_PORT", "29500"}}).value()->source,
      "PMI");
}

TEST(Placement, WhatCannotBeIsRefusedInWords) {
  const struct {
    Variables variables;
    const char* says;
  } cases[] = {
      {{{"RANK", "0"}}, "WORLD_SIZE"},
      {{{"WORLD_SIZE", "2"}}, "RANK"},
      {{{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "1"}}, "below"},
      {{{"RANK", "x"}, {"WORLD_SIZE", "2"}}, "a whole number of at least 0 (is \"x\")"},
      {{{"RANK", "-1"}, {"WORLD_SIZE", "2"}}, "(is \"-1\")"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}}, "MASTER_PORT"},
  };
  for (const auto& c : cases) {
    const auto found = place(c.variables);
    ASSERT_FALSE(found) << c.says;
    EXPECT_NE(found.error().message.find(c.says), std::string::npos) << found.error().message;
  }
}

using Names = std::vector<std::string>;

TEST(Nodelist, ExpandsAsSlurmDoes) {
  EXPECT_EQ(expand_nodelist("n[01-03,7],gpu-a"), (Names{"n01", "n02", "n03", "n7", "gpu-a"}));
  EXPECT_EQ(expand_nodelist("a[1-2]b[3-4]"), (Names{"a1b3", "a1b4", "a2b3", "a2b4"}));
  EXPECT_EQ(expand_nodelist("n[008-011]"), (Names{"n008", "n009", "n010", "n011"}));
  EXPECT_EQ(expand_nodelist("n[9-11]"), (Names{"n9", "n10", "n11"}));
  EXPECT_EQ(expand_nodelist("a,b[2],c[1-2]"), (Names{"a", "b2", "c1", "c2"}));
  EXPECT_EQ(expand_nodelist("cn-0001-[1-2]"), (Names{"cn-0001-1", "cn-0001-2"}));
  EXPECT_EQ(expand_nodelist("n1,n1"), (Names{"n1", "n1"}));
}

TEST(Nodelist, RefusesWhatSlurmNeverWrites) {
  for (const char* list :
       {"n[3-1]", "n[]", "n[1-3]x", "n[1", "", "a,,b", "n[1-99999999999]", "n[a-b]", "n[1-1000000],m[1-2000000]"}) {
    EXPECT_FALSE(expand_nodelist(list)) << list;
  }
}

TEST(Nodelist, TaskCountsMayRepeat) {
  EXPECT_EQ(expand_task_counts("2(x3),1"), (std::vector<int>{2, 2, 2, 1}));
  EXPECT_EQ(expand_task_counts("4"), (std::vector<int>{4}));
  for (const char* counts : {"", "2(x3", "x", "2(x),1", "2,,1"}) EXPECT_FALSE(expand_task_counts(counts)) << counts;
}

}  // namespace
}  // namespace rankscope::trainer
