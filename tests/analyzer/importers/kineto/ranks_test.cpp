#include "importers/kineto/trace_file.h"

#include <gmock/gmock.h>

#include <array>

#include "importers/shared/rank_claims.h"
#include "rankscope/core/model/run.h"
#include "trace_text.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::on_stream;
using testing::op;
using ::testing::StartsWith;
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

ImportOptions with_rank_map(std::map<std::string, std::uint32_t> map) {
  ImportOptions options;
  options.rank_map = std::move(map);
  return options;
}

TEST(TraceRanks, FileNamesTellTheRank) {
  EXPECT_EQ(rank_in_name("rank-34.Jul_15.pt.trace.json"), 34);
  EXPECT_EQ(rank_in_name("sampled_rank_1.json"), 1);
  EXPECT_EQ(rank_in_name("rank7.json.gz"), 7);
  EXPECT_EQ(rank_in_name("worker0.1623212756351.pt.trace.json"), 0);
  EXPECT_EQ(rank_in_name("run_rank-12.sqlite"), 12);
  EXPECT_EQ(rank_in_name("Rank_3.sqlite"), 3);
  EXPECT_EQ(rank_in_name("ranking.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("prank3.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("localrank3.json"), std::nullopt) << "of a node, or inside of another word";
  EXPECT_EQ(rank_in_name("rank--3.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("report_10.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("worker_7.json"), std::nullopt);
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
  const auto run = folder.open(with_rank_map({{"a.json", 4}, {"b.json", 3}}));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT((*run)->ranks(), ElementsAre(RankId{3}, RankId{4}));
}

/// What is said of a --rank-map for two files that do not tell their rank, a.json and b.json.
std::string refusal_of(const TraceFolder& folder, std::map<std::string, std::uint32_t> map) {
  const auto run = folder.open(with_rank_map(std::move(map)));
  EXPECT_FALSE(run);
  if (run) return "";
  EXPECT_EQ(run.error().kind, ErrorKind::usage);
  EXPECT_THAT(run.error().message, StartsWith("--rank-map: "));
  return run.error().message;
}

TEST(TraceRanks, AMapThatDoesNotFitIsRefusedInOneSentence) {
  const TraceFolder folder;
  folder.write("a.json", without_rank(op("x", 1, 2)));
  folder.write("b.json", without_rank(op("y", 1, 2)));
  EXPECT_THAT(refusal_of(folder, {{"c.json", 1}}),
              HasSubstr("no opened file is called c.json; the opened files are: a.json, b.json"));
  EXPECT_THAT(refusal_of(folder, {{":5", 0}}), HasSubstr("no opened file is called :5"));
  EXPECT_THAT(refusal_of(folder, {{"a.json", 1}, {"b.json", 1}}), HasSubstr("a.json and b.json both have rank 1"));
  const std::string path = (folder.path() / "a.json").string();
  EXPECT_THAT(refusal_of(folder, {{"a.json", 1}, {path, 2}}), HasSubstr("are the same file"));
  folder.write("b.json",
               "{\"distributedInfo\": {\"rank\": 1, \"world_size\": 2}, \"traceEvents\": [" + op("y", 1, 2) + "]}");
  EXPECT_THAT(refusal_of(folder, {{"a.json", 7}}),
              HasSubstr("a.json is given rank 7, but the job has 2 ranks (0 to 1)"));
  EXPECT_THAT(refusal_of(folder, {{"a.json", 1}}), HasSubstr("rank 1"));
}

TEST(TraceRanks, AMapNamesFilesByNameOrPath) {
  const TraceFolder folder;
  folder.write("a.json", without_rank(op("x", 1, 2)));
  folder.write("b.json", without_rank(op("y", 1, 2)));
  const auto run = folder.open(with_rank_map({{(folder.path() / "." / "a.json").string(), 4}, {"b.json", 3}}));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT((*run)->ranks(), ElementsAre(RankId{3}, RankId{4}));
}

TEST(TraceRanks, AMapOfThousandsOfFilesTakesNoTime) {
  std::vector<RankInput> inputs;
  std::map<std::string, std::uint32_t> map;
  for (std::uint32_t rank = 0; rank < 4000; ++rank) {
    inputs.push_back({.path = "traces/" + std::to_string(rank) + "/trace.json"});
    map.emplace(inputs.back().path.string(), rank);
  }
  const auto ranks = ranks_from_map(inputs, map);
  ASSERT_TRUE(ranks) << ranks.error().message;
  EXPECT_EQ(ranks->at(2345), 2345);
  EXPECT_EQ(ranks_from_map(inputs, {}).value(), std::vector<std::optional<std::int64_t>>(inputs.size()));
}

TEST(TraceRanks, ANameThatSeveralFilesHaveIsNoName) {
  const TraceFolder one;
  const TraceFolder two;
  const std::array files{one.write("a.json", without_rank(op("x", 1, 2))),
                         two.write("a.json", without_rank(op("y", 1, 2)))};
  const auto refused = open_run(files, with_rank_map({{"a.json", 4}}));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("a.json matches 2 files; give their paths: " + files[0].string()));
  const auto run = open_run(files, with_rank_map({{files[0].string(), 4}, {files[1].string(), 3}}));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT((*run)->ranks(), ElementsAre(RankId{3}, RankId{4}));
}

TEST(TraceRanks, AMapForWhatKnowsItsRanksIsRefused) {
  const TraceFolder folder;
  const std::array file{folder.write("run.txt", "0 compute 0 5 k\n")};
  const auto run = open_run(file, with_rank_map({{"run.txt", 1}}));
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::usage);
  EXPECT_THAT(run.error().message, HasSubstr("run.txt already states the rank"));
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
