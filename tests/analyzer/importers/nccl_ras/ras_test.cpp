#include "importers/nccl_ras/ras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analyzer/hang/written_dumps.h"
#include "rankscope/analyzer/hang/hang.h"
#include "rankscope/core/format.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ras_rank(int rank, int all_reduces) {
  return format(R"({{"rank": {}, "host": "10.0.0.{}", "pid": 7, "cuda_dev": 0, "nvml_dev": 0,
    "status": {{"init_state": 0, "async_error": 0, "finalize_called": false, "destroy_flag": false, "abort_flag": false}},
    "collective_counts": {{"Broadcast": 3, "AllReduce": {}}}}})",
                rank, rank, all_reduces);
}

std::string ras_answer(std::string_view ranks, std::string_view missing) {
  return format(R"({{"nccl_version": "2.28.7", "cuda_runtime_version": 13000, "cuda_driver_version": 13000,
    "timestamp": "2026-01-01 00:00:00", "communicators_count": 1, "communicators": [{{"hash": "0xabc",
    "secondary_hash": "0x1:0x2", "size": 3, "ranks_count": 3, "missing_ranks_count": 0, "ranks": [{}],
    "missing_ranks": [{}]}}], "ras": {{"collection_time_sec": 0.1, "timeouts_count": 0}}}})",
                ranks, missing);
}

HangReport judged_answer(const std::string& answer) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder / "ras.json";
  std::ofstream{path} << answer;
  auto report = judge_dumps(std::span{&path, 1}, {});
  EXPECT_TRUE(report) << report.error().message;
  return report ? std::move(*report) : HangReport{};
}

TEST(NcclRas, CountsAloneAreAGuess) {
  const HangReport report =
      judged_answer(ras_answer(ras_rank(0, 10) + "," + ras_rank(1, 9) + "," + ras_rank(2, 10), ""));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report.roots[0].certainty, HangCertainty::guess);
  EXPECT_EQ(report.roots[0].operation->op, "AllReduce");
}

TEST(NcclRas, CountsWhoseSumIsLargerThanAnyNumberAreStillMore) {
  std::string counts;
  for (int i = 0; i < 300; ++i) counts += format(R"({}"F{}": 9223372036854775807)", i == 0 ? "" : ", ", i);
  const auto ahead = [&counts](int rank) {
    return format(R"({{"rank": {}, "host": "h{}", "pid": 7, "collective_counts": {{{}}}}})", rank, rank, counts);
  };
  const HangReport report = judged_answer(ras_answer(ahead(0) + "," + ras_rank(1, 9) + "," + ahead(2), ""));
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1})) << report.roots[0].evidence;
}

TEST(NcclRas, ARankThatIsConsideredDeadIsNamed) {
  const HangReport report = judged_answer(ras_answer(
      ras_rank(0, 10) + "," + ras_rank(1, 9),
      R"({"rank": 2, "host": "10.0.0.2", "pid": 4711, "cuda_dev": 0, "nvml_dev": 0, "status": {"unresponsive": true, "considered_dead": true}})"));
  ASSERT_FALSE(report.roots.empty());
  EXPECT_EQ(report.roots[0].kind, HangKind::dead);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{2}));
  EXPECT_EQ(report.roots[0].certainty, HangCertainty::likely);
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("4711"));
}

TEST(NcclRas, ARankThatDoesNotAnswerIsAGuess) {
  const HangReport report = judged_answer(ras_answer(
      ras_rank(0, 10) + "," + ras_rank(1, 9),
      R"({"rank": 2, "host": "10.0.0.2", "pid": 4711, "cuda_dev": 0, "nvml_dev": 0, "status": {"unresponsive": true, "considered_dead": false}})"));
  EXPECT_NE(report.verdict, HangVerdict::crash);
  ASSERT_FALSE(report.roots.empty());
  for (const HangRoot& root : report.roots) EXPECT_EQ(root.certainty, HangCertainty::guess) << root.evidence;
}

TEST(NcclRas, ADumpSaysMoreThanAnAnswer) {
  const testing::TemporaryFolder folder;
  testing::write_dumps(
      "@group 0 default_pg 0,1,2\n0 0 all_reduce 2 open\n1 0 all_reduce 1 done\n2 0 all_reduce 2 open\n",
      folder.path());
  std::ofstream{folder / "ras.json"} << ras_answer(
      ras_rank(0, 10) + "," + ras_rank(1, 10),
      R"({"rank": 2, "host": "10.0.0.2", "pid": 4711, "status": {"unresponsive": true, "considered_dead": true}})");
  const std::filesystem::path& path = folder.path();
  const auto report = judge_dumps(std::span{&path, 1}, {});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->roots.size(), 1U);
  EXPECT_THAT(report->roots[0].ranks, ElementsAre(RankId{1}));
  EXPECT_EQ(report->roots[0].kind, HangKind::never_came);
}

TEST(NcclRas, RanksOfASmallerCommunicatorAreNotThoseOfTheJob) {
  const testing::TemporaryFolder folder;
  testing::write_dumps(
      "@group 0 default_pg 0,1,2,3\n0 0 all_reduce 2 open\n1 0 all_reduce 2 open\n2 0 all_reduce 2 open\n",
      folder.path());
  std::ofstream{folder / "ras.json"} << ras_answer(ras_rank(0, 10) + "," + ras_rank(1, 9) + "," + ras_rank(2, 10), "");
  const std::filesystem::path& path = folder.path();
  const auto report = judge_dumps(std::span{&path, 1}, {});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->roots.size(), 1U);
  EXPECT_THAT(report->roots[0].ranks, ElementsAre(RankId{3}));
  ASSERT_EQ(report->losses.size(), 1U);
  EXPECT_EQ(report->losses[0].counter, "ras_not_used");
}

TEST(NcclRas, EqualCountsNameNobody) {
  const HangReport report =
      judged_answer(ras_answer(ras_rank(0, 10) + "," + ras_rank(1, 10) + "," + ras_rank(2, 10), ""));
  EXPECT_TRUE(report.roots.empty());
}

}  // namespace
}  // namespace rankscope::analyzer
