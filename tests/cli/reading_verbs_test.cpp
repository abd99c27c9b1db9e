// Every exit status of docs/cli.md that the reading verbs can reach, each with its sentence.
#include "reading_verbs.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

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

TEST_F(ReadingVerbs, NoVerbIsAWrongCallAndPointsToHelp) {
  const auto result = rankscope({});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--help"));
  EXPECT_THAT(result.err, HasSubstr("a verb is required"));
  EXPECT_EQ(rankscope({"report", "--banana", "x"}).status, 2);
  EXPECT_EQ(rankscope({"report", path("x"), "--steps", "five"}).status, 2);
  EXPECT_EQ(rankscope({"report", path("x"), "--hta-include-last"}).status, 2) << "it needs --hta-compat";
  for (const char* const peak : {"0", "-1", "nan", "inf", "fast", ""})
    EXPECT_EQ(rankscope({"report", path("x"), "--peak-tflops", peak}).status, 2) << peak;
}

TEST_F(ReadingVerbs, HelpAndVersionAreNoErrors) {
  EXPECT_EQ(rankscope({"--version"}).status, 0);
  const auto help = rankscope({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* verb : {"record", "train", "report", "export", "dump", "doctor"})
    EXPECT_THAT(help.out, HasSubstr(verb));
}

TEST_F(ReadingVerbs, WhatCannotBeReadIsExit3AndNamesThePath) {
  fs::create_directory(folder_ / "empty");
  write("notes.md", "hello");
  write("trace.json", "{}");
  for (const char* name : {"absent", "empty", "notes.md", "trace.json"})
    for (const char* verb : {"report", "dump"}) {
      const auto result = rankscope({verb, path(name)});
      EXPECT_EQ(result.status, 3) << verb << " " << name;
      EXPECT_THAT(result.err, StartsWith("rankscope: "));
      EXPECT_THAT(result.err, HasSubstr(path(name)));
      EXPECT_EQ(result.out, "");
    }
  for (const char* name : {"empty", "notes.md"})
    EXPECT_THAT(rankscope({"report", path(name)}).err,
                AllOf(HasSubstr("a .rankscope folder, a pack (.tar.zst), Kineto JSON of torch.profiler"),
                      HasSubstr("SQLite exports of Nsight Systems")));
  EXPECT_EQ(rankscope({"export", path("absent"), "--to", "chrome", path("out.json")}).status, 3);
  EXPECT_FALSE(fs::exists(path("out.json")));
}

TEST_F(ReadingVerbs, AFolderOfRecordingsIsNotReadAsAFolderOfTraces) {
  fs::copy(fs::path{RANKSCOPE_SAMPLES} / "demo.rankscope", path("demo.rankscope"), fs::copy_options::recursive);
  write("rank0.json", R"({"traceEvents":[{"ph":"X","name":"a","ts":0,"dur":1,"pid":1,"tid":1}]})");
  const auto result = rankscope({"report", folder_.string()});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("contains 1 recording: name the one to open, as in " + path("demo.rankscope")));
}

TEST_F(ReadingVerbs, AReportHasAVerdictAndItsJsonAddsUp) {
  const std::string run = write("run.txt", steady_ranks(4));
  const auto result = rankscope({"report", run, "--json", path("report.json")});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto json = nlohmann::json::parse(std::ifstream{path("report.json")});
  EXPECT_EQ(json["schema"], "rankscope.report/1");
  EXPECT_EQ(json["stragglers"].size(), 0U);
  ASSERT_EQ(json["ranks"].size(), 4U);
  for (const auto& rank : json["ranks"]) {
    const auto part = [&rank](const char* key) { return rank[key].get<std::int64_t>(); };
    EXPECT_EQ(part("compute_ns") + part("exposed_comm_ns") + part("memory_ns") + part("idle_ns"), part("window_ns"));
    EXPECT_EQ(part("wait_ns") + part("transfer_ns") + part("unsplit_ns"), part("comm_ns"));
  }
}

TEST_F(ReadingVerbs, JsonOnStdoutIsNothingButJson) {
  const std::string run = write("run.txt", steady_ranks(2));
  const auto result = rankscope({"report", run, "--json", "-"});
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(nlohmann::json::accept(result.out));
}

TEST_F(ReadingVerbs, ThePageIsWrittenBesideTheTextOrInItsPlace) {
  const std::string run = write("run.txt", steady_ranks(4));
  const auto beside = rankscope({"report", run, "--html", path("report.html"), "--json", path("report.json")});
  ASSERT_EQ(beside.status, 0) << beside.err;
  EXPECT_THAT(beside.out, HasSubstr("VERDICT"));
  const auto page = testing::read_file(path("report.html"));
  EXPECT_THAT(page, ::testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_TRUE(fs::exists(path("report.json")));
  const auto alone = rankscope({"report", run, "--html", "-"});
  EXPECT_EQ(alone.status, 0) << alone.err;
  EXPECT_EQ(alone.out, page);
}

TEST_F(ReadingVerbs, PageAndJsonNeedFilesOfTheirOwn) {
  const std::string run = write("run.txt", steady_ranks(2));
  for (const std::string& file : {std::string{"-"}, path("report.out")}) {
    const auto result = rankscope({"report", run, "--html", file, "--json", file});
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("give each its own file"));
  }
  fs::create_directory_symlink(path("."), path("link"));
  for (const std::string& again : {path("./report.out"), path("link/report.out"), path("none/../report.out")}) {
    const auto result = rankscope({"report", run, "--json", path("report.out"), "--html", again});
    EXPECT_EQ(result.status, 2) << again;
    EXPECT_FALSE(fs::exists(path("report.out"))) << again;
  }
}

TEST_F(ReadingVerbs, TheReportSaysWhichPartOfTheRunItShows) {
  const std::string run = write("run.txt", steady_ranks(4));
  const auto text = rankscope({"report", run, "--steps", "2:4", "--ranks", "1,3"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("Shown: only steps 2 to 4 of ranks 1, 3."));
  const auto result = rankscope({"report", run, "--steps", "2:4", "--ranks", "1,3", "--json", "-"});
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["run"]["asked_for"], nlohmann::json::parse(R"({"steps": [2, 4], "ranks": [1, 3]})"));
  EXPECT_EQ(json["collectives"]["matched"], 6);
  EXPECT_EQ(json["ranks"].size(), 2U);
  EXPECT_EQ(json["rank_facts"].size(), 2U);
}

TEST_F(ReadingVerbs, StepsOrRanksThatTheRecordingLacksAreAWrongOption) {
  const std::string run = write("run.txt", steady_ranks(4));
  const auto steps = rankscope({"report", run, "--steps", "70:80"});
  EXPECT_EQ(steps.status, 2);
  EXPECT_THAT(steps.err, HasSubstr("0 to 9"));
  EXPECT_EQ(rankscope({"report", run, "--ranks", "7"}).status, 2);
  for (const auto& [option, value, why] : std::vector<std::tuple<const char*, const char*, const char*>>{
           {"--ranks", "-1", "must be ranks from 0 to 1048575, such as 0,2,4-7 (has \"-1\")"},
           {"--ranks", "0,", "(has \"\")"},
           {"--ranks", "0,,1", "(has \"\")"},
           {"--ranks", "1-", "(has \"1-\")"},
           {"--steps", ":", "--steps must be A:B, A: or :B with whole numbers, as in 5:15 (is \":\")"},
           {"--steps", "3:x", "(is \"3:x\")"},
           {"--steps", "70:", "the ranks do not have steps 70 and later in common"}}) {
    const auto wrong = rankscope({"report", run, std::string{option} + "=" + value});
    EXPECT_EQ(wrong.status, 2) << option << ' ' << value;
    EXPECT_THAT(wrong.err, HasSubstr(why));
  }
  for (const char* option : {"--ranks", "--steps"}) {
    const auto empty = rankscope({"report", run, option, ""});
    EXPECT_EQ(empty.status, 2) << option;
    EXPECT_THAT(empty.err, HasSubstr("the value is empty"));
  }
}

TEST_F(ReadingVerbs, OnlyTheSectionsAskedForAreShown) {
  const std::string run = write("run.txt", steady_ranks(2));
  const auto both = rankscope({"report", run, "--only", "collectives,findings", "--json", path("report.json")});
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("COLLECTIVES"));
  EXPECT_THAT(both.out, HasSubstr("FINDINGS"));
  for (const char* other : {"VERDICT", "WHERE THE TIME WENT", "DATA QUALITY", "OPERATORS"})
    EXPECT_THAT(both.out, Not(HasSubstr(other)));
  const auto json = nlohmann::json::parse(std::ifstream{path("report.json")});
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"collectives", "data_quality", "findings", "run", "schema"}));
  EXPECT_THAT(rankscope({"report", "--only", "findings", run}).out, HasSubstr("FINDINGS")) << "RUN may stand behind it";
  const auto missing = rankscope({"report", run, "--only", "kernels"});
  EXPECT_EQ(missing.status, 4);
  EXPECT_THAT(missing.out, HasSubstr("kernels: not available: No rank has an accelerator."));
  EXPECT_THAT(missing.err, HasSubstr("no section that --only selects could be computed"));
  const auto unknown = rankscope({"report", run, "--only", "kernel"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("kernels"));
}

TEST_F(ReadingVerbs, AReportIsOneScreenUnlessMoreIsAskedFor) {
  const std::string run = write("run.txt", steady_ranks(8));
  const std::string screen = rankscope({"report", run}).out;
  EXPECT_THAT(screen, StartsWith("VERDICT\n"));
  EXPECT_THAT(screen, HasSubstr("\n  run.txt\n")) << "its name";
  EXPECT_LE(std::ranges::count(screen, '\n'), 60);
  EXPECT_THAT(screen, Not(HasSubstr("COLLECTIVES  ")));
  const std::string full = rankscope({"report", run, "--full"}).out;
  EXPECT_THAT(full, HasSubstr("COLLECTIVES  "));
  EXPECT_EQ(rankscope({"report", run, "--top", "10"}).out, full) << "--top is about its tables";
  rankscope({"report", run, "--html", path("report.html")});
  EXPECT_THAT(testing::read_file(path("report.html")), HasSubstr("run.txt</p>"));
}

TEST_F(ReadingVerbs, StepsMayBeOpenOnEitherSide) {
  const std::string run = write("run.txt", steady_ranks(2));
  EXPECT_THAT(rankscope({"report", run, "--steps", "7:"}).out, HasSubstr("Shown: only steps 7 to 9."));
  EXPECT_THAT(rankscope({"report", run, "--steps", ":3"}).out, HasSubstr("Shown: only steps 0 to 3."));
  EXPECT_EQ(rankscope({"export", run, "--steps", "7:", path("out")}).status, 0);
}

TEST_F(ReadingVerbs, StepsOfARunWithoutStepsAreAWrongOption) {
  const auto result = rankscope({"report", write("run.txt", "0 op 0 60 op\n"), "--steps", "1:2"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--steps: this recording has no steps: no step marks were recorded"));
  EXPECT_EQ(result.out, "");
}

TEST_F(ReadingVerbs, AnEmptyNameIsAWrongCallAndSaidSo) {
  for (const char* verb : {"report", "dump"}) {
    const auto result = rankscope({verb, ""});
    EXPECT_EQ(result.status, 2) << verb;
    EXPECT_THAT(result.err, HasSubstr("RUN is empty"));
  }
}

TEST_F(ReadingVerbs, ADashIsStdout) {
  const std::string run = write("run.txt", steady_ranks(2));
  const auto trace = rankscope({"export", run, "--to", "chrome", "-"});
  EXPECT_EQ(trace.status, 0) << trace.err;
  EXPECT_TRUE(nlohmann::json::accept(trace.out)) << trace.out.substr(0, 200);
  EXPECT_FALSE(fs::exists("-"));
  EXPECT_EQ(rankscope({"export", run, "--to", "chrome", path("file.json")}).status, 0);
  EXPECT_EQ(trace.out, testing::read_file(path("file.json")));
}

TEST_F(ReadingVerbs, ATextThatIsNoDumpIsRefusedAsSuch) {
  EXPECT_THAT(rankscope({"report", write("hello.txt", "hello\n")}).err,
              HasSubstr("this is not a line of the output of `rankscope dump`"));
}

TEST_F(ReadingVerbs, WhatIsReadIsNeverOverwritten) {
  const std::string run = write("run.txt", steady_ranks(2));
  const std::string before = testing::read_file(run);
  for (const auto& words : {std::vector<std::string>{"export", run, run},
                            {"export", run, "--to", "sqlite", run},
                            {"report", run, "--json", run},
                            {"report", run, "--html", run},
                            {"pack", run, run}}) {
    const auto result = rankscope(words);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("is the input"));
  }
  EXPECT_EQ(testing::read_file(run), before);
}

TEST_F(ReadingVerbs, HelpNamesDefaultsAndSaysNothingThatDoesNotConcernTheVerb) {
  EXPECT_THAT(rankscope({"report", "--help"}).out, HasSubstr("a .rankscope folder or pack"));
  EXPECT_THAT(rankscope({"doctor", "--help"}).out, Not(HasSubstr("RUN")));
  EXPECT_THAT(rankscope({"report", "--help"}).out, HasSubstr("{auto,always,never}=auto"));
  const std::string record = rankscope({"record", "--help"}).out;
  EXPECT_THAT(record, Not(HasSubstr("{200}")));
  EXPECT_THAT(record, HasSubstr("--pytorch not with: --no-pytorch"));
}

TEST_F(ReadingVerbs, ARunThatTellsNothingIsExit4AndStillWritesItsJson) {
  const std::string run = write("run.txt", "@rank - pid=7 host=n\n- counter 5 1 rss_bytes\n- counter 9 1 rss_bytes\n");
  const auto result = rankscope({"report", run, "--json", path("report.json")});
  EXPECT_EQ(result.status, 4) << result.out;
  EXPECT_TRUE(nlohmann::json::accept(std::ifstream{path("report.json")}));
}

TEST_F(ReadingVerbs, ACommandEndedByASignalBeforeItsFirstStepIsToldToRunLonger) {
  const std::string rest = " clock=same_host clock_error=1000\n@rank 0 pid=7 host=n\n0 counter 5 1 rss_bytes\n";
  const auto advice = [&](const std::string& facts) {
    return rankscope({"report", write("run.txt", "@run source=rankscope world_size=1" + facts + rest)}).out;
  };
  EXPECT_THAT(advice(" meta.exit_status=130 meta.role=trainer"), HasSubstr("before its first step was complete"));
  EXPECT_THAT(advice(" meta.exit_status=130"), HasSubstr("perhaps before its first step"));
  EXPECT_THAT(advice(" meta.exit_status=1"), HasSubstr("Mark each step with an NVTX range"));
}

TEST_F(ReadingVerbs, AnUnwritableOutputIsExit5AndLeavesWhatWasThere) {
  const std::string run = write("run.txt", steady_ranks(2));
  EXPECT_EQ(rankscope({"report", run, "--json", path("no/such/folder.json")}).status, 5);
  EXPECT_EQ(rankscope({"export", run, "--to", "chrome", path("no/such/folder.json")}).status, 5);
  EXPECT_EQ(rankscope({"report", run, "--json", "/dev/full"}).status, 5);
  EXPECT_EQ(rankscope({"report", run, "--html", path("no/such/folder.html")}).status, 5);
}

TEST_F(ReadingVerbs, DamageIsNamedWithItsFileAndRank) {
  const std::string run = write(
      "run.txt", "@quality chunks_corrupt 2 \"n0-7-9.rseg (rank 1)\"\n@quality chunks_corrupt 1\n" + steady_ranks(2));
  EXPECT_THAT(rankscope({"report", run}).out, HasSubstr("DATA QUALITY  chunks corrupt: 3 in n0-7-9.rseg (rank 1)"));
  const auto text = rankscope({"report", run, "--full"});
  EXPECT_THAT(text.out, HasSubstr("chunks corrupt: 3."));
  EXPECT_THAT(text.out, HasSubstr("n0-7-9.rseg (rank 1)."));
  const auto json = nlohmann::json::parse(rankscope({"report", run, "--json", "-"}).out);
  EXPECT_EQ(json["data_quality"][0]["where"][0], "n0-7-9.rseg (rank 1)");
  EXPECT_THAT(rankscope({"dump", run}).out, HasSubstr("@quality chunks_corrupt 2 \"n0-7-9.rseg (rank 1)\""));
}

TEST_F(ReadingVerbs, ARankMapThatDoesNotFitIsAWrongOption) {
  const std::string run = write("run.txt", steady_ranks(2));
  const std::string trace = write("a.json", trace_of(0));
  for (const auto& [input, map, said] :
       {std::tuple{run, "run.txt=1", "run.txt already states the rank"},
        {trace, "a.json", "--rank-map must be FILE=RANK,... (has \"a.json\")"},
        {trace, "=3", "(has \"=3\")"},
        {trace, "a.json=-1", "the rank of a.json must be a whole number from 0 to 16777215 (is \"-1\")"},
        {trace, "a.json=1x", "(is \"1x\")"},
        {trace, "a.json=99999999999", "must be a whole number"},
        {trace, "a.json=", "(is empty)"},
        {trace, "a.json=1,a.json=2", "a.json is given twice"},
        {trace, "b.json=1", "no opened file is called b.json"}}) {
    const auto result = rankscope({"report", input, "--rank-map", map});
    EXPECT_EQ(result.status, 2) << map;
    EXPECT_THAT(result.err, HasSubstr(said));
  }
}

TEST_F(ReadingVerbs, WhatDumpPrintsCanBeReadAgain) {
  const std::string run = write("run.txt", steady_ranks(2));
  const auto first = rankscope({"dump", run});
  ASSERT_EQ(first.status, 0) << first.err;
  const auto second = rankscope({"dump", write("again.txt", first.out)});
  EXPECT_EQ(first.out, second.out);
}

}  // namespace
}  // namespace rankscope
