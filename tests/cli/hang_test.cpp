// hang: exit statuses and what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/demo.h"
#include "rankscope/core/format.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

using ::testing::HasSubstr;
using testing::ProgramResult;

ProgramResult hang(std::vector<std::string> words) {
  words.insert(words.begin(), {RANKSCOPE_PROGRAM, "hang"});
  return testing::run_program(words);
}

/// The dump of a rank of two that came to all_reduce 2, or not.
std::string dump_text(bool came) {
  const auto entry = [](int seq, std::string_view state) {
    return format(R"({{"record_id": {}, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": {},
      "p2p_seq_id": 0, "profiling_name": "nccl:all_reduce", "input_sizes": [[4]], "input_dtypes": ["Float"],
      "state": "{}", "retired": false, "time_created_ns": 1, "timeout_ms": 600000, "is_p2p": false}})",
                  seq - 1, seq, state);
  };
  return format(R"({{"version": "2.10", "pg_config": {{"0": {{"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}}},
    "pg_status": {{}}, "entries": [{}{}{}]}})",
                entry(1, "completed"), came ? ", " : "", came ? entry(2, "scheduled") : "");
}

TEST(HangVerb, NamesTheRankThatNeverCame) {
  const testing::TemporaryFolder folder;
  std::ofstream{folder / "dump_0"} << dump_text(true);
  std::ofstream{folder / "dump_1"} << dump_text(false);
  const ProgramResult shown = hang({folder.path().string(), "--html", folder / "page.html"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("Rank 1 never reached all_reduce 2"));
  EXPECT_THAT(testing::read_file(folder / "page.html"), HasSubstr("never reached"));
  const ProgramResult json = hang({folder / "dump_0", folder / "dump_1", "--json", "-"});
  const auto report = nlohmann::json::parse(json.out, nullptr, false);
  ASSERT_TRUE(report.is_object()) << json.out;
  EXPECT_EQ(report["schema"], "rankscope.hang/1");
  EXPECT_EQ(report["roots"][0]["ranks"], nlohmann::json::array({1}));
}

TEST(HangVerb, SaysWithStatus4WhatIsMissing) {
  const testing::TemporaryFolder folder;
  std::ofstream{folder / "dump_0"} << dump_text(true);
  const ProgramResult shown = hang({folder / "dump_0", "--json", folder / "hang.json"});
  EXPECT_EQ(shown.status, 4);
  EXPECT_THAT(shown.err, HasSubstr("add the missing dumps"));
  EXPECT_THAT(testing::read_file(folder / "hang.json"), HasSubstr("cannot_tell"));
}

TEST(HangVerb, EndsWithStatus3IfNothingCanBeRead) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(hang({folder / "absent"}).status, 3);
  std::ofstream{folder / "dump_0"} << "\x80\x02";
  EXPECT_EQ(hang({folder / "dump_0"}).status, 3);
  EXPECT_EQ(hang({folder.path().string()}).status, 3);
}

TEST(HangVerb, ARecordingThatEndedWellHasNoCause) {
  const ProgramResult shown = hang({demo});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("No rank waits for another"));
}

TEST(HangVerb, ADumpThatShowsLessDoesNotReplaceTheVerdictOnItsRecording) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path run = folder / "run";
  std::filesystem::copy(demo, run, std::filesystem::copy_options::recursive);
  std::filesystem::create_directory(run / "flight_recorder");
  std::ofstream{run / "flight_recorder" / "nccl_trace_rank_0"} << dump_text(true);
  const ProgramResult shown = hang({run.string()});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("No rank waits for another"));
  EXPECT_THAT(shown.out, HasSubstr("dumps_not_used"));
  const ProgramResult report = testing::run_program({RANKSCOPE_PROGRAM, "report", run.string()});
  EXPECT_THAT(report.err, HasSubstr("contains dumps of the Flight Recorder, which the report does not use; `rankscope "
                                    "hang " +
                                    run.string() + "` does"));
}

TEST(HangVerb, ARecordingBesideDumpsIsReadToo) {
  const testing::TemporaryFolder folder;
  std::ofstream{folder / "dump_0"} << dump_text(true);
  std::ofstream{folder / "dump_1"} << dump_text(false);
  const ProgramResult both = hang({folder / "dump_0", folder / "dump_1", demo, "--json", "-"});
  const auto report = nlohmann::json::parse(both.out, nullptr, false);
  ASSERT_TRUE(report.is_object()) << both.out << both.err;
  EXPECT_EQ(report["verdict"], "finished") << "the recording shows that all ranks ended well";
  EXPECT_THAT(report["data_quality"].dump(), HasSubstr("never reached")) << "what the dumps say is noted";
}

TEST(HangVerb, RefusesWrongOptionsWithStatus2) {
  EXPECT_EQ(hang({}).status, 2);
  EXPECT_EQ(hang({demo, "--steps", "1:2"}).status, 2);
}

}  // namespace
}  // namespace rankscope
