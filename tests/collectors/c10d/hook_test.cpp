// How process groups get their names: the hook in Python, on stand-ins for torch.distributed and libtorch_cpu.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectors/recorded.h"
#include "rankscope/core/format.h"

namespace rankscope::collectors::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Runs a program that has imported the stand-in as `torch`, and its `torch.distributed` as `dist`.
Recorded python(const Folder& folder, const std::string& program, const std::string& version = "2.11.0") {
  const Variable modules{"PYTHONPATH", RANKSCOPE_TEST_PYTORCH};
  const Variable cache{"PYTHONDONTWRITEBYTECODE", "1"};
  const Variable library{"STANDIN_LIBRARY", collectors::testing::program("c10d/libtorch_cpu.so")};
  const Variable named{"STANDIN_VERSION", version};
  const std::string whole = "import torch\nimport torch.distributed as dist\n" + program + "torch.optim.SGD().step()\n";
  const std::string said = (folder / "said").string();
  return record(folder, RecordOptions{.command = {"/bin/sh", "-c", "exec python3 -c \"$1\" > \"$0\" 2>&1", said, whole},
                                      .pytorch = PyTorch::expected});
}

/// "default_pg 0: 0,1,2" for each group that communicated, and how often.
std::vector<std::string> groups_of(const Run& run) {
  std::vector<std::string> texts;
  for (const Collective& one : run.collectives()) {
    const Group& group = run.groups()[one.group.index()];
    std::string members;
    for (const RankId rank : group.members) members += format("{}{}", members.empty() ? "" : ",", rank.value);
    texts.push_back(format("{}: {}", run.text(group.name), members));
  }
  return texts;
}

TEST(C10dHook, NamesGroupsByDescriptionAndName) {
  const Folder folder;
  const Recorded recorded = python(folder,
                                   "world = dist.init_process_group('gloo', 3)\n"
                                   "part = dist.new_group([2, 0], 'mesh_dp')\n"
                                   "plain = dist.new_group([0, 1])\n"
                                   "for group in (world, part, plain, world): group.backend.allreduce()\n");
  EXPECT_EQ(recorded.status, 0) << rankscope::testing::read_file(folder / "said");
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(groups_of(*recorded.run),
              ElementsAre("default_pg 0: 0,1,2", "default_pg 0: 0,1,2", "mesh_dp 1: 2,0", "group 2: 0,1"));
  EXPECT_EQ(lost(*recorded.run, Counter::comm_groups_unknown), 0U);
  EXPECT_EQ(recorded.summary.pytorch.problem, "");
}

TEST(C10dHook, KnowsGroupsOfOneAndLeavesOutThoseOfOthers) {
  const Folder folder;
  const Recorded recorded = python(folder,
                                   "dist.init_process_group('gloo', 3)\n"
                                   "dist.new_group([1, 2])\n"
                                   "dist.new_group([0]).backend.allreduce()\n");
  EXPECT_EQ(recorded.status, 0) << rankscope::testing::read_file(folder / "said");
  EXPECT_EQ(recorded.summary.pytorch.problem, "");
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(groups_of(*recorded.run), ElementsAre("group 1: 0"));
  EXPECT_EQ(lost(*recorded.run, Counter::comm_groups_unknown), 0U);
}

TEST(C10dHook, SaysThatAVersionWasNotVerifiedOnceThereIsSomebodyToTalkTo) {
  constexpr std::string_view why =
      "collectives of the gloo backend are not recorded, since rankscope has not been verified with PyTorch 9.9.0 on "
      "x86-64";
  const Folder folder;
  const Recorded recorded = python(folder,
                                   "dist.init_process_group('gloo', 2).backend.allreduce()\n"
                                   "dist.new_group([0, 1])\n",
                                   "9.9.0");
  EXPECT_EQ(recorded.status, 0) << rankscope::testing::read_file(folder / "said");
  EXPECT_EQ(recorded.summary.pytorch.problem, why) << "once";
  EXPECT_THAT(recorded.summary.notes, Contains(HasSubstr(why)));
  const Folder alone;
  const Recorded one = python(alone, "dist.init_process_group('gloo', 1)\n", "9.9.0");
  EXPECT_THAT(one.summary.notes, Not(Contains(HasSubstr("9.9.0")))) << "one rank has no collectives";
}

TEST(C10dHook, SaysNothingOfAVersionThatWasNotVerifiedWhereNcclReportsItself) {
  const Folder folder;
  const Recorded recorded = python(folder, "dist.init_process_group('nccl', 2)\n", "9.9.0");
  EXPECT_EQ(recorded.status, 0) << rankscope::testing::read_file(folder / "said");
  EXPECT_EQ(recorded.summary.pytorch.problem, "");
  const Folder other;
  const Recorded mpi = python(other, "dist.init_process_group('mpi', 2)\n", "9.9.0");
  EXPECT_EQ(mpi.summary.pytorch.problem, "collectives of the mpi backend are not recorded") << "in no version";
}

TEST(C10dHook, SaysWhichBackendIsNotRecorded) {
  const Folder folder;
  const Recorded recorded =
      python(folder, "dist.init_process_group('mpi', 2)\ndist.new_group([0, 1], None, 'exotic')\n");
  EXPECT_EQ(recorded.status, 0) << rankscope::testing::read_file(folder / "said");
  EXPECT_EQ(recorded.summary.pytorch.problem,
            "collectives of the mpi backend are not recorded; collectives of the exotic backend are not recorded");
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.run->metadata(recorded.run->processes()[0], "pytorch_collectives_problem"),
            "collectives of the mpi backend are not recorded");
}

TEST(C10dHook, LeavesAProgramAloneWhoseGroupsItDoesNotUnderstand) {
  const Folder folder;
  const Recorded recorded = python(folder,
                                   "del dist.distributed_c10d.ProcessGroup._get_backend\n"
                                   "group = dist.init_process_group('gloo', 2)\n"
                                   "group.backend.allreduce()\n"
                                   "dist.new_group([0, 1])\n");
  EXPECT_EQ(recorded.status, 0) << rankscope::testing::read_file(folder / "said");
  EXPECT_THAT(recorded.summary.pytorch.problem, HasSubstr("could not name group: AttributeError"));
}

TEST(C10dHook, NamesTheGroupsAfterOneThatItDoesNotUnderstand) {
  const Folder folder;
  const Recorded recorded = python(folder,
                                   "groups = dist.distributed_c10d.ProcessGroup\n"
                                   "get_backend = groups._get_backend\n"
                                   "del groups._get_backend\n"
                                   "dist.init_process_group('gloo', 2)\n"
                                   "groups._get_backend = get_backend\n"
                                   "dist.new_group([0, 1]).backend.allreduce()\n");
  EXPECT_EQ(recorded.status, 0) << rankscope::testing::read_file(folder / "said");
  EXPECT_THAT(recorded.summary.pytorch.problem, HasSubstr("could not name group: AttributeError"));
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(groups_of(*recorded.run), ElementsAre("group 1: 0,1"));
  EXPECT_EQ(lost(*recorded.run, Counter::comm_groups_unknown), 0U);
}

TEST(C10dHook, NamesTheGroupsAfterOneOfABackendThatCannotBeAsked) {
  const Folder folder;
  const Recorded recorded = python(folder,
                                   "dist.init_process_group('exotic', 2)\n"
                                   "dist.new_group([0, 1]).backend.allreduce()\n");
  EXPECT_EQ(recorded.status, 0) << rankscope::testing::read_file(folder / "said");
  EXPECT_EQ(recorded.summary.pytorch.problem, "collectives of the exotic backend are not recorded");
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_THAT(groups_of(*recorded.run), ElementsAre("group 1: 0,1"));
}

TEST(C10dHook, ShowsWhatItCutsOfLongAndManyProblems) {
  const Folder folder;
  const Recorded recorded = python(folder,
                                   "def fail(group, device): raise ValueError(group.group_name + ' long' * 100)\n"
                                   "dist.distributed_c10d.ProcessGroup._get_backend = fail\n"
                                   "dist.init_process_group('gloo', 2)\n"
                                   "for _ in range(10): dist.new_group([0, 1])\n");
  EXPECT_EQ(recorded.status, 0) << rankscope::testing::read_file(folder / "said");
  EXPECT_THAT(recorded.summary.pytorch.problem,
              AllOf(StartsWith("could not name group: ValueError: 0 long long"), HasSubstr("…; could not name group"),
                    HasSubstr("ValueError: 7 long"), EndsWith("…; and 3 more")));
}

}  // namespace
}  // namespace rankscope::collectors::testing
