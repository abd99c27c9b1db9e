#include "importers/kineto/ranks.h"

#include <gmock/gmock.h>

#include "trace_text.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::on_stream;
using testing::op;
using testing::TraceFolder;

std::string without_rank(std::string_view events) {
  return "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 1700000000000000000, \"traceEvents\": [" +
         std::string{events} + "]}";
}
std::string of_rank(int rank) {
  return "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": " + std::to_string(rank) + "}, \"traceEvents\": [" +
         op("a", 1, 2) + "]}";
}
std::string on_device(int device) {
  return without_rank(on_stream("kernel", "k", 1, 2, "{\"device\": " + std::to_string(device) + ", \"stream\": 7}"));
}

TEST(TraceRanks, FileNamesTellTheRank) {
  EXPECT_EQ(rank_in_name("rank-34.Jul_15.pt.trace.json"), 34);
  EXPECT_EQ(rank_in_name("sampled_rank_1.json"), 1);
  EXPECT_EQ(rank_in_name("rank7.json.gz"), 7);
  EXPECT_EQ(rank_in_name("worker0.1623212756351.pt.trace.json"), 0);
  EXPECT_EQ(rank_in_name("ranking.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("host_4711.1623212756351.pt.trace.json"), std::nullopt);
}

TEST(TraceRanks, TheTraceIsBelievedBeforeItsName) {
  const TraceFolder folder;
  folder.write("rank5.json", of_rank(2));
  const auto run = folder.open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT((*run)->ranks(), ElementsAre(RankId{2}));
}

TEST(TraceRanks, TwoFilesOfOneRankAreRefusedByName) {
  const TraceFolder folder;
  folder.write("a.json", of_rank(2));
  folder.write("b.json", of_rank(2));
  const auto run = folder.open();
  ASSERT_FALSE(run);
  EXPECT_EQ(exit_status(run.error().kind), 3);
  EXPECT_THAT(run.error().message, HasSubstr("a.json"));
  EXPECT_THAT(run.error().message, HasSubstr("b.json"));
  EXPECT_THAT(run.error().message, HasSubstr("--rank-map"));
}

TEST(TraceRanks, FilesThatTellNothingAreRefusedUntilTheyAreMapped) {
  const TraceFolder folder;
  folder.write("a.json", without_rank(op("x", 1, 2)));
  folder.write("b.json", without_rank(op("y", 1, 2)));
  const auto refused = folder.open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(exit_status(refused.error().kind), 3);
  EXPECT_THAT(refused.error().message, HasSubstr("--rank-map"));
  const auto run = folder.open({.rank_map = {{"a.json", 4}, {"b.json", 3}}, .progress = {}, .threads = 0});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT((*run)->ranks(), ElementsAre(RankId{3}, RankId{4}));
}

TEST(TraceRanks, AMapThatNamesNoFileIsAMistake) {
  const TraceFolder folder;
  folder.write("a.json", of_rank(0));
  const auto run = folder.open({.rank_map = {{"c.json", 1}}, .progress = {}, .threads = 0});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::usage);
}

TEST(TraceRanks, OneProcessPerDeviceIsNumberedByDeviceAndSaysSo) {
  const TraceFolder folder;
  folder.write("x.json", on_device(1));
  folder.write("y.json", on_device(0));
  const auto run = folder.open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT((*run)->ranks(), ElementsAre(RankId{0}, RankId{1}));
  EXPECT_EQ((*run)->quality().of(Counter::rank_unknown), 2U);
}

TEST(TraceRanks, AFileAloneIsRankZeroAndSaysSo) {
  const auto run = testing::open_text(without_rank(op("a", 1, 2)));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT((*run)->ranks(), ElementsAre(RankId{0}));
  EXPECT_EQ((*run)->quality().of(Counter::rank_unknown), 1U);
}

TEST(TraceRanks, RanksOfTheJobWithoutAFileAreCounted) {
  const auto run = testing::open_text("{\"distributedInfo\": {\"rank\": 3, \"world_size\": 8}, \"traceEvents\": [" +
                                      op("a", 1, 2) + "]}");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::ranks_missing), 7U);
}

}  // namespace
}  // namespace rankscope::analyzer
