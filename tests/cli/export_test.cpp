// What `rankscope export` writes, replaces and refuses.
#include "reading_verbs.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReadingVerbs;
using ::testing::StartsWith;
using testing::steady_ranks;
using testing::trace_of;

class Export : public ReadingVerbs {};

TEST_F(Export, AFormatThatCannotGoToStdoutIsAWrongOption) {
  const std::string run = write("run.txt", steady_ranks(2));
  for (const char* format : {"tensorboard", "sqlite"}) {
    const auto refused = rankscope({"export", run, "--to", format, "-"});
    EXPECT_EQ(refused.status, 2) << format;
    EXPECT_THAT(refused.err, HasSubstr("instead of -"));
  }
  const auto parquet = rankscope({"export", run, "--to", "parquet", path("tables")});
  EXPECT_EQ(parquet.status, 2);
  EXPECT_THAT(parquet.err, HasSubstr("written only by the Python package"));
  EXPECT_THAT(rankscope({"export", run, "--to", "xml", path("x")}).err, HasSubstr("--to must be one of perfetto, "));
}

TEST_F(Export, AnExportOfADamagedRecordingSaysThatItLacksData) {
  const auto said = [this](const std::string& losses) {
    return rankscope({"export", write("run.txt", losses + steady_ranks(2)), path("x.pftrace")}).err;
  };
  EXPECT_THAT(said("@quality segment_cut 1 \"n0.rseg (rank 1)\"\n"), HasSubstr("lacks data (segment_cut: 1)"));
  EXPECT_THAT(said(""), Not(HasSubstr("lacks data")));
}

TEST_F(Export, TheCriticalPathIsATrackOfTracesThatShowAllRanksTogether) {
  const std::string run = write("run.txt", steady_ranks(2));
  const auto trace = rankscope({"export", run, "--to", "chrome", "--critical-path", "-"});
  ASSERT_EQ(trace.status, 0) << trace.err;
  int stretches = 0;
  std::set<std::string> processes;
  const auto events = nlohmann::json::parse(trace.out)["traceEvents"];
  for (const auto& event : events) {
    if (event["name"] == "process_name") processes.insert(event["args"]["name"]);
    if (event["ph"] == "X" && event.contains("args") && event["args"].contains("class")) ++stretches;
  }
  EXPECT_TRUE(processes.contains("critical path"));
  EXPECT_GT(stretches, 0);
  EXPECT_EQ(rankscope({"export", run, "--critical-path", path("run.pftrace")}).status, 0);
  const auto refused = rankscope({"export", run, "--to", "kineto", "--critical-path", path("out")});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--critical-path needs --to perfetto or --to chrome (is kineto)"));
  const auto part = rankscope({"export", run, "--critical-path", "--ranks", "0", path("part.pftrace")});
  EXPECT_EQ(part.status, 2) << "the path of one rank alone is another one";
  EXPECT_THAT(part.err, HasSubstr("cannot be combined with --ranks"));
}

TEST_F(Export, ATraceOfSomebodyIsNotReplacedWhenTheFileToWriteWasForgotten) {
  const std::string run = write("run.txt", steady_ranks(2));
  const std::string demo = std::string{RANKSCOPE_SAMPLES} + "/demo.rankscope";
  const std::string trace = R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 2}]})";
  const std::string pack = path("other.tar.zst");
  ASSERT_EQ(rankscope({"pack", demo, pack}).status, 0);
  for (const std::string& original :
       {write("rank_1.json", trace), write("base.sqlite", std::string{"SQLite format 3\0 of nsys", 24}),
        write("base.nsys-rep", "QDSTRM"), pack}) {
    const std::string before = testing::read_file(original);
    for (const auto& words : {std::vector<std::string>{"export", run, original},
                              {"export", run, "--to", "sqlite", original},
                              {"report", run, "--json", original}}) {
      const auto result = rankscope(words);
      EXPECT_EQ(result.status, 2) << original << result.err;
      EXPECT_THAT(result.err, HasSubstr("and would be overwritten"));
    }
    EXPECT_EQ(testing::read_file(original), before);
  }
  EXPECT_EQ(rankscope({"pack", demo, pack}).status, 0) << "a pack is replaced by a pack";
}

TEST_F(Export, WhatAnExportWroteIsReplacedByAnother) {
  const std::string run = write("run.txt", steady_ranks(1));
  for (const char* format : {"chrome", "kineto", "sqlite", "perfetto"})
    for (const char* next : {"chrome", "kineto", "sqlite", "perfetto"}) {
      ASSERT_EQ(rankscope({"export", run, "--to", format, path("out")}).status, 0) << format;
      const auto again = rankscope({"export", run, "--to", next, path("out")});
      EXPECT_EQ(again.status, 0) << format << " by " << next << ": " << again.err;
    }
}

TEST_F(Export, AFolderOfOthersIsNeverReplacedAndOneOfOursIs) {
  const std::string run = write("run.txt", steady_ranks(2));
  fs::create_directory(path("own"));
  write("own/worker0.1.pt.trace.json", "{}");
  for (const char* format : {"kineto", "tensorboard"}) {
    const auto refused = rankscope({"export", run, "--to", format, path("own")});
    EXPECT_EQ(refused.status, 5) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("contains worker0.1.pt.trace.json, which no rankscope export wrote"));
    EXPECT_EQ(testing::read_file(path("own/worker0.1.pt.trace.json")), "{}");
    EXPECT_EQ(rankscope({"export", run, "--to", format, path("ours")}).status, 0);
    EXPECT_EQ(rankscope({"export", run, "--to", format, path("ours")}).status, 0) << "again";
  }
}

TEST_F(Export, AnExportIsPerfettosByDefaultAndCanBeAPart) {
  const std::string run = write("run.txt", steady_ranks(4));
  ASSERT_EQ(rankscope({"export", run, path("all.pftrace")}).status, 0);
  ASSERT_EQ(rankscope({"export", run, path("part.pftrace"), "--ranks", "1,2", "--steps", "2:3"}).status, 0);
  EXPECT_LT(fs::file_size(path("part.pftrace")), fs::file_size(path("all.pftrace")));
  const auto none = rankscope({"export", run, path("none.pftrace"), "--ranks", "9"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("the recording has no rank 9"));
  EXPECT_FALSE(fs::exists(path("none.pftrace")));
}

TEST_F(Export, SeveralTracesAreExportedAsOneRun) {
  const std::string a = write("a.json", trace_of(0));
  const std::string b = write("b.json", trace_of(1));
  const auto done = rankscope({"export", a, b, "--to", "kineto", path("out")});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(fs::exists(path("out/rank-0.json")));
  EXPECT_TRUE(fs::exists(path("out/rank-1.json")));
  EXPECT_THAT(rankscope({"export", "--help"}).out, HasSubstr("RUN ... OUT"));
  const auto unnamed = rankscope({"export", a, ""});
  EXPECT_EQ(unnamed.status, 2);
  EXPECT_THAT(unnamed.err, HasSubstr("OUT is empty"));
  const auto nowhere = rankscope({"export", a});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("OUT"));
}

TEST_F(Export, AFolderOfTracesIsNeverNamedLikeAFile) {
  const std::string run = write("run.txt", steady_ranks(2));
  for (const char* format : {"kineto", "tensorboard"}) {
    const auto refused = rankscope({"export", run, "--to", format, path("x.json")});
    EXPECT_EQ(refused.status, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("write to the folder " + path("x") + ","));
    EXPECT_FALSE(fs::exists(path("x.json")));
  }
  EXPECT_EQ(rankscope({"export", run, "--ranks", "1", "--to", "kineto", path("x.json")}).status, 0);
  EXPECT_TRUE(fs::is_regular_file(path("x.json")));
}

}  // namespace
}  // namespace rankscope
