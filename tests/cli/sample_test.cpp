// The checked-in recording opens where the trainer was never built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

using ::testing::HasSubstr;
using testing::run_program;

const std::string sample = RANKSCOPE_SAMPLES "/demo.rankscope";

TEST(Sample, TheReportNamesTheSlowRank) {
  const auto result = run_program({RANKSCOPE_PROGRAM, "report", sample, "--json", "-"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_EQ(json.at("stragglers").size(), 1U);
  const auto& slow = json.at("stragglers").at(0);
  EXPECT_EQ(slow.at("rank"), 2);
  EXPECT_EQ(slow.at("kind"), "compute");
  EXPECT_EQ(slow.at("persistence"), "persistent");
  EXPECT_EQ(json.at("collectives").at("unmatched"), 0);
  for (const auto& rank : json.at("ranks")) {
    const auto part = [&rank](const char* key) { return rank.at(key).get<std::int64_t>(); };
    EXPECT_EQ(part("compute_ns") + part("exposed_comm_ns") + part("memory_ns") + part("idle_ns"), part("window_ns"));
  }
}

TEST(Sample, TheTextBeginsWithTheVerdict) {
  const auto result = run_program({RANKSCOPE_PROGRAM, "report", sample});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("Rank 2 is slow: it computes more slowly than its peers."));
}

TEST(Sample, TwoStepsAreAHintAndCalledSoEverywhere) {
  const auto result = run_program({RANKSCOPE_PROGRAM, "report", sample, "--steps", "3:4"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("Rank 2 looks slow in these few steps"));
  EXPECT_THAT(result.out, Not(HasSubstr("  fact\n")));
  EXPECT_THAT(result.out, Not(HasSubstr("whether a rank is slow")));
}

TEST(Sample, DumpAndExportAcceptIt) {
  const auto dump = run_program({RANKSCOPE_PROGRAM, "dump", sample});
  EXPECT_EQ(dump.status, 0);
  EXPECT_THAT(dump.out, HasSubstr("allreduce"));
  EXPECT_THAT(dump.out, Not(HasSubstr("injected")));
  for (const std::string format : {"perfetto", "chrome", "tensorboard", "sqlite"}) {
    const std::string out = (std::filesystem::temp_directory_path() / ("rankscope-sample." + format)).string();
    EXPECT_EQ(run_program({RANKSCOPE_PROGRAM, "export", sample, "--to", format, out}).status, 0) << format;
    std::filesystem::remove_all(out);
  }
}

TEST(Sample, AsAKinetoTraceItHasTheSameVerdict) {
  const testing::TemporaryFolder folder;
  const std::string out = (folder / "demo").string();
  ASSERT_EQ(run_program({RANKSCOPE_PROGRAM, "export", sample, "--to", "kineto", out}).status, 0);
  const auto report_of = [](const std::string& run) {
    const auto result = run_program({RANKSCOPE_PROGRAM, "report", run, "--json", "-"});
    EXPECT_EQ(result.status, 0) << result.err;
    return nlohmann::json::parse(result.out);
  };
  const auto native = report_of(sample);
  const auto kineto = report_of(out);
  EXPECT_EQ(native.at("stragglers").size(), 1U);
  for (const char* section : {"steps", "ranks", "rank_facts", "operators", "collectives", "stragglers",
                              "straggler_basis", "findings", "data_quality"}) {
    EXPECT_FALSE(native.at(section).contains("unavailable")) << section;
    EXPECT_EQ(kineto.at(section), native.at(section)) << section;
  }
  EXPECT_EQ(kineto.at("run").at("clock"), native.at("run").at("clock"));
}

}  // namespace
}  // namespace rankscope
