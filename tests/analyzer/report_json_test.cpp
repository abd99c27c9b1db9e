#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/sample_report.h"
#include "rankscope/analyzer/render.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;

ReportOptions with_instances() {
  ReportOptions options;
  options.instances = true;
  return options;
}

Json json_of(const Report& report, const ReportOptions& options = {}) {
  return Json::parse(render_json(report, *sample_run(), options));
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(RenderJson, HasEverySectionOfTheSchema) {
  const auto json = json_of(slow_report(*sample_run()));
  EXPECT_EQ(json.at("schema"), "rankscope.report/1");
  for (const auto* key : {"run", "steps", "ranks", "kernels", "operators", "copies", "collectives", "efficiency",
                          "stragglers", "critical_path", "pipeline", "what_if", "findings", "data_quality"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (const auto* key : {"critical_path", "pipeline", "what_if"}) {
    EXPECT_THAT(keys_of(json.at(key)), ElementsAre("unavailable"));
  }
}

TEST(RenderJson, TheRunSaysWhereItsTimesComeFrom) {
  const auto run = json_of(clean_report(*sample_run())).at("run");
  EXPECT_EQ(run.at("ranks"), 4);
  EXPECT_EQ(run.at("world_size"), 4);
  EXPECT_EQ(run.at("steps"), 20);
  EXPECT_EQ(run.at("clock"), (Json{{"method", "same_host"}, {"error_ns", 1000}}));
}

TEST(RenderJson, TheShownPartsOfARankAddUp) {
  const auto ranks = json_of(slow_report(*sample_run())).at("ranks");
  ASSERT_EQ(ranks.size(), 4U);
  for (const auto& rank : ranks) {
    const auto ns = [&](const char* key) { return rank.at(key).get<std::int64_t>(); };
    EXPECT_EQ(ns("compute_ns") + ns("exposed_comm_ns") + ns("memory_ns") + ns("idle_ns"), ns("window_ns"));
    EXPECT_EQ(ns("wait_ns") + ns("transfer_ns") + ns("unsplit_ns"), ns("comm_ns"));
    EXPECT_THAT(keys_of(rank.at("idle_causes")), ElementsAre("host", "sync", "data", "kernel_gap", "other"));
  }
}

TEST(RenderJson, EveryNullHasAReason) {
  auto report = clean_report(*sample_run());
  (*report.rank_rows)[0].overlap_ratio = {.value = {}, .why = "no communication"};
  const auto rank = json_of(report).at("ranks").at(0);
  EXPECT_TRUE(rank.at("overlap_ratio").is_null());
  EXPECT_EQ(rank.at("why").at("overlap_ratio"), "no communication");
  EXPECT_TRUE(rank.at("memory").at("peak_allocated_bytes").is_null());
  EXPECT_EQ(rank.at("why").at("memory.peak_allocated_bytes"), "no allocator counters in the recording");
}

TEST(RenderJson, UnknownWaitsHaveTheReasonOfTheirOwn) {
  auto report = clean_report(*sample_run());
  GroupRow& group = report.collectives->groups.front();
  group.without_wait = group.count;
  group.why_no_wait = "the root was not recorded";
  const auto row = json_of(report).at("collectives").at("groups").at(0);
  EXPECT_TRUE(row.at("wait_ns").is_null());
  EXPECT_EQ(row.at("why").at("wait_ns"), "the root was not recorded");
  EXPECT_EQ(row.at("transfer_ns"), 38'000'000);
}

TEST(RenderJson, CallsThatAreAllInGraphsHaveNoLength) {
  auto report = clean_report(*sample_run());
  LaunchRow in_graphs;
  in_graphs.rank = RankId{0};
  in_graphs.launches = in_graphs.in_graphs = 5;
  LaunchRow one_call = in_graphs;
  one_call.launches = 6;
  one_call.call.median_ns = 7;
  report.launches = LaunchesSection{{in_graphs, one_call}};
  const auto rows = json_of(report).at("launches");
  EXPECT_TRUE(rows.at(0).at("call").is_null());
  EXPECT_EQ(rows.at(0).at("why").at("call"), "all launches were in CUDA graphs");
  EXPECT_EQ(rows.at(1).at("call").at("median_ns"), 7);
  EXPECT_FALSE(rows.at(1).contains("why"));
}

TEST(RenderJson, LargeNumbersKeepEveryDigit) {
  auto report = clean_report(*sample_run());
  report.duration_ns = 9'007'199'254'740'993;
  EXPECT_NE(render_json(report, *sample_run(), {}).find("9007199254740993"), std::string::npos);
}

TEST(RenderJson, AStragglerIsOneRow) {
  const auto rows = json_of(slow_report(*sample_run())).at("stragglers");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("rank"), 2);
  EXPECT_EQ(rows[0].at("kind"), "compute");
  EXPECT_EQ(rows[0].at("persistence"), "persistent");
  EXPECT_EQ(rows[0].at("certainty"), "fact");
  EXPECT_EQ(rows[0].at("slowdown"), 1.4801);
}

TEST(RenderJson, ACleanRunHasAnEmptyListOfStragglers) {
  EXPECT_EQ(json_of(clean_report(*sample_run())).at("stragglers"), Json::array());
}

TEST(RenderJson, WhatCannotBeComputedSaysWhy) {
  auto report = clean_report(*sample_run());
  report.steps = unavailable("no step marks");
  report.stragglers = unavailable("one rank");
  const auto json = json_of(report);
  EXPECT_EQ(json.at("steps"), (Json{{"unavailable", "no step marks"}}));
  EXPECT_EQ(json.at("stragglers"), (Json{{"unavailable", "one rank"}}));
  EXPECT_TRUE(json.at("run").at("steps").is_null());
  EXPECT_EQ(json.at("run").at("why").at("steps"), "no step marks");
}

TEST(RenderJson, InstancesAreListedOnlyWhenAsked) {
  const auto report = clean_report(*sample_run());
  EXPECT_FALSE(json_of(report).at("collectives").contains("instances"));
  const auto instances = json_of(report, with_instances()).at("collectives").at("instances");
  ASSERT_EQ(instances.size(), 1U);
  EXPECT_EQ(instances[0].at("group"), "dp");
  EXPECT_EQ(instances[0].at("op"), "allreduce");
  EXPECT_EQ(instances[0].at("last_rank"), 2);
  EXPECT_EQ(instances[0].at("spread_ns"), 30);
}

TEST(RenderJson, DataQualityCarriesItsAdvice) {
  auto report = clean_report(*sample_run());
  report.data_quality = {{Counter::events_dropped, 12}};
  const auto row = json_of(report).at("data_quality").at(0);
  EXPECT_EQ(row.at("counter"), "events_dropped");
  EXPECT_EQ(row.at("value"), 12);
  EXPECT_EQ(row.at("severity"), "data_loss");
  EXPECT_FALSE(row.at("advice").get<std::string>().empty());
}

TEST(RenderJson, AFindingNamesItsRankAndStep) {
  auto report = clean_report(*sample_run());
  report.findings = std::vector<Finding>{{.id = "rank_lost",
                                          .severity = FindingSeverity::critical,
                                          .title = "Rank 1 was lost in step 5",
                                          .evidence = "",
                                          .advice = "",
                                          .gain_ns_per_step = 0,
                                          .rank = RankId{1},
                                          .step = 5}};
  const auto row = json_of(report).at("findings").at(0);
  EXPECT_EQ(row.at("rank"), 1);
  EXPECT_EQ(row.at("step"), 5);
}

TEST(RenderJson, NamesWithAnyBytesStayValid) {
  auto report = clean_report(*sample_run());
  (*report.rank_rows)[0].host = "n\x1b[0\xff\"";
  EXPECT_EQ(json_of(report).at("ranks").at(0).at("host"), "n\x1b[0\uFFFD\"");
}

}  // namespace
}  // namespace rankscope::analyzer
