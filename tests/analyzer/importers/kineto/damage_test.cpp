// Input that is malformed: what is whole is kept, what is lost is counted.
#include <gmock/gmock.h>

#include "rankscope/core/model/run.h"
#include "support/gzip.h"
#include "trace_text.h"

namespace rankscope {
namespace {

using testing::complete;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::on_stream;
using testing::op;
using testing::open_text;
using testing::packed;
using testing::RunResult;
using testing::trace;

void expect_spans(const RunResult& run, const std::vector<std::string>& names) {
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(testing::span_names(**run), names);
}
std::uint64_t count(const RunResult& run, Counter counter) { return run ? (*run)->quality().of(counter) : 0; }

TEST(DamagedTrace, ATraceThatEndsEarlyKeepsItsWholeEvents) {
  const std::string whole = trace(op("a", 1, 2) + "," + op("b", 4, 2));
  const auto run = open_text(whole.substr(0, whole.find("\"b\"") + 2));
  expect_spans(run, {"a"});
  EXPECT_EQ(count(run, Counter::truncated_input), 1U);
}

TEST(DamagedTrace, AKernelThatLastsLongerThanADayIsLeftOutAndCounted) {
  const auto run = open_text(trace(
      op("a", 1, 2) + "," + complete("kernel", "gemm", R"("pid": 0, "tid": 7, "ts": 3, "dur": 1000000000000000)")));
  expect_spans(run, {"a"});
  EXPECT_EQ(count(run, Counter::times_unusable), 1U);
}

TEST(DamagedTrace, ACutBehindAListInsideOfAnEventIsACut) {
  const std::string whole = trace(op("a", 1, 2) + "," + op("b", 4, 2, R"({"Input type": ["float"] })"));
  const auto run = open_text(whole.substr(0, whole.find("] }") + 3));
  expect_spans(run, {"a"});
  EXPECT_EQ(count(run, Counter::truncated_input), 1U);
}

TEST(DamagedTrace, StepsThatReachPastTheCutAreNotComplete) {
  const auto step = [](int number, int begin) {
    return complete("user_annotation", "ProfilerStep#" + std::to_string(number),
                    R"("pid": 7, "tid": 7, "ts": )" + std::to_string(begin) + R"(, "dur": 100)");
  };
  const std::string whole =
      trace(step(1, 0) + "," + step(2, 100) + "," + step(3, 200) + "," + op("a", 150, 2) + "," + op("b", 190, 2));
  const auto flags_of = [](const RunResult& run) {
    std::vector<int> flags;
    for (const Span& span : (*run)->spans())
      if (span.kind == SpanKind::step) flags.push_back(span.flags);
    return flags;
  };
  const auto run = open_text(whole.substr(0, whole.find("\"b\"") + 2));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(flags_of(run), ElementsAre(0, span_flag::cut_end, span_flag::cut_end));
  EXPECT_THAT(flags_of(open_text(whole)), ElementsAre(0, 0, 0));
}

TEST(DamagedTrace, AListWithoutItsEndIsCountedAsCut) {
  const std::string whole = trace(op("a", 1, 2));
  const auto run = open_text(whole.substr(0, whole.size() - 2));
  expect_spans(run, {"a"});
  EXPECT_EQ(count(run, Counter::truncated_input), 1U);
}

TEST(DamagedTrace, ACommaBehindTheLastEventIsNoDamage) {
  const auto run = open_text(trace(op("a", 1, 2) + ","));
  expect_spans(run, {"a"});
  EXPECT_EQ(count(run, Counter::truncated_input), 0U);
  EXPECT_EQ(count(run, Counter::events_malformed), 0U);
}

TEST(DamagedTrace, UnescapedQuotesInsideAnArgumentAreRepaired) {
  const auto run = open_text(trace(op("a", 1, 2, R"({"Call stack": "say("hi") there"})") + "," + op("b", 4, 2)));
  expect_spans(run, {"a", "b"});
  EXPECT_EQ(count(run, Counter::events_repaired), 1U);
}

TEST(DamagedTrace, AnEventThatCannotBeReadCostsOnlyItself) {
  const auto run = open_text(trace(op("a", 1, 2) + R"(,{"ph": "X", "cat" "cpu_op", "name": "lost"},)" + op("b", 4, 2)));
  expect_spans(run, {"a", "b"});
  EXPECT_EQ(count(run, Counter::events_malformed), 1U);
}

TEST(DamagedTrace, MetadataBehindADamagedLastEventIsRead) {
  const auto run =
      open_text(R"({"traceEvents": [)" + op("a", 1, 2) +
                R"(,{"ph": "X", "cat" "cpu_op", "name": "lost"}], "baseTimeNanoseconds": 1700000000000000000})");
  expect_spans(run, {"a"});
  EXPECT_EQ((*run)->info().origin_unix_ns, 1700000000000001000);
}

TEST(DamagedTrace, ControlCharactersInsideANameAreKept) {
  expect_spans(open_text(trace(op("a\tb\x01", 1, 2))), {"a\tb\x01"});
}

TEST(DamagedTrace, BareWordsAndMissingValuesAreAbsent) {
  const auto run = open_text(R"({"distributedInfo": {"rank": , "world_size": 2}, "traceEvents": [)" +
                             op("a", 1, 2, R"({"x": inf, "y": nan, "z": N/A, "w": null, "v": 1})") + "]}");
  expect_spans(run, {"a"});
  const AttributeRange attributes = (*run)->attributes_of(SpanId{0});
  EXPECT_EQ(std::ranges::distance(attributes.begin(), attributes.end()), 1);
  EXPECT_EQ((*run)->info().world_size, 2);
}

TEST(DamagedTrace, KernelsWithoutATimeAreLeftOutAndCounted) {
  const auto run = open_text(trace(op("a", 1, 2) + "," + on_stream("kernel", "k", 0, 0, "{}")));
  expect_spans(run, {"a"});
  EXPECT_EQ(count(run, Counter::times_unusable), 1U);
}

TEST(DamagedTrace, AnEndBeforeItsBeginIsKeptWithoutLength) {
  const auto run = open_text(trace(op("a", 5, -3)));
  expect_spans(run, {"a"});
  EXPECT_EQ((*run)->spans().front().time.length().count(), 0);
  EXPECT_EQ(count(run, Counter::negative_duration), 1U);
}

TEST(DamagedTrace, EventsThatLackWhatTheyNeedAreLeftOutAndCounted) {
  const auto run =
      open_text(trace(op("a", 1, 2) + R"(,{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1},
      {"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": 1, "dur": 1},
      {"ph": "X", "cat": "cpu_op", "name": "n", "tid": 1, "ts": 1, "dur": 1},
      {"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "ts": 1, "dur": 1},
      {"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "tid": 1, "dur": 1},
      {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "python"}}, {})"));
  expect_spans(run, {"a"});
  EXPECT_EQ(count(run, Counter::events_incomplete), 6U);
  EXPECT_EQ((*run)->text((*run)->processes().front().program), "python");
}

TEST(DamagedTrace, AnUnknownCategoryIsKeptAsAPlainRange) {
  const auto run = open_text(trace(complete("made_up", "x", R"("pid": 7, "tid": 7, "ts": 1, "dur": 2)")));
  expect_spans(run, {"x"});
  EXPECT_EQ((*run)->spans().front().kind, SpanKind::user);
  EXPECT_EQ(count(run, Counter::categories_unknown), 1U);
}

TEST(DamagedTrace, KernelsWithoutALaunchStayUnlinked) {
  const auto run = open_text(trace(on_stream("kernel", "k", 3, 2, R"({"correlation": 5})")));
  expect_spans(run, {"k"});
  EXPECT_TRUE((*run)->links().empty());
  EXPECT_EQ(count(run, Counter::kernels_without_launch), 1U);
}

TEST(DamagedTrace, KernelsThatOverlapOnAStreamKeepTheirTimes) {
  const auto run = open_text(trace(on_stream("kernel", "k", 1, 4, "{}") + "," + on_stream("kernel", "l", 3, 4, "{}")));
  expect_spans(run, {"k", "l"});
  EXPECT_EQ((*run)->spans()[1].depth, 0);
}

TEST(DamagedTrace, StepsAreThoseOfTheHostOnly) {
  const auto run =
      open_text(trace(complete("user_annotation", "ProfilerStep#1", R"("pid": 7, "tid": 7, "ts": 1, "dur": 9)") + "," +
                      complete("gpu_user_annotation", "ProfilerStep#1", R"("pid": 0, "tid": 7, "ts": 2, "dur": 9)")));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(std::ranges::count((*run)->spans(), SpanKind::step, &Span::kind), 1);
}

TEST(DamagedTrace, TheLastOfTwoEqualKeysCounts) {
  expect_spans(open_text(trace(
                   R"({"ph": "X", "cat": "cpu_op", "name": "a", "name": "b", "pid": 7, "tid": 7, "ts": 1, "dur": 2})")),
               {"b"});
}

TEST(DamagedTrace, PidsThatAreEqualInTwoFilesAreTwoProcesses) {
  const testing::TraceFolder folder;
  folder.write("rank0.json", R"({"traceEvents": [)" + op("a", 1, 2) + "]}");
  folder.write("rank1.json", R"({"traceEvents": [)" + op("b", 1, 2) + "]}");
  const auto run = folder.open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->processes().size(), 2U);
}

TEST(PackedTrace, GzipIsRecognisedByContentHoweverOftenItWasPacked) {
  const std::string once = packed(trace(op("a", 1, 2)));
  const std::string twice = packed(once);
  const std::string joined = packed(trace(op("a", 1, 2)).substr(0, 60)) + packed(trace(op("a", 1, 2)).substr(60));
  for (const std::string& text : {once, twice, joined}) {
    const auto run = open_text(text);
    expect_spans(run, {"a"});
    EXPECT_EQ(count(run, Counter::truncated_input), 0U);
  }
}

TEST(PackedTrace, ACutFileGivesWhatCanBeUnpacked) {
  std::string events;
  for (int i = 0; i < 20000; ++i) events += op("op " + std::to_string(i * 7919 % 20000), i, 1) + ",";
  const std::string whole = packed(trace(events));
  const auto run = open_text(whole.substr(0, whole.size() / 2));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_GT((*run)->spans().size(), 1000U);
  EXPECT_LT((*run)->spans().size(), 19000U);
  EXPECT_EQ(count(run, Counter::truncated_input), 1U);
}

TEST(ForeignFiles, WhatIsNoTraceIsRefusedInOneSentence) {
  const testing::TraceFolder folder;
  const auto refused = [&folder](const std::string& name, std::string_view text) {
    const auto run = analyzer::open_run(folder.write(name, text));
    return run ? std::string{"it was read"} : run.error().message;
  };
  EXPECT_THAT(refused("a.json", ""), HasSubstr("is empty"));
  EXPECT_THAT(refused("a.json.gz", "\x1f\x8b no gzip"), HasSubstr("is damaged: nothing in it can be unpacked"));
  EXPECT_THAT(refused("nothing.json.gz", packed("")), HasSubstr("is empty"));
  EXPECT_THAT(refused("b.json", "{\"x\": 1}"), HasSubstr("is not in a format that rankscope reads"));
  EXPECT_THAT(refused("c.json", "{\"schemaVersion\": 1}"), HasSubstr("no traceEvents"));
  EXPECT_THAT(refused("d.json", "{\"traceEvents\": []}"), HasSubstr("no events"));
  EXPECT_THAT(refused("e.nsys-rep", "binary"), HasSubstr("nsys export --type sqlite --include-blobs=true"));
}

TEST(LargeTrace, StretchesReadByThreadsGiveWhatOneThreadGives) {
  std::string events;
  for (int i = 0; i < 250000; ++i)
    events += op("name " + std::to_string(i % 97), i, 3,
                 R"({"External id": )" + std::to_string(i) + R"(, "note": "a {\"name\": 1}, [{ b"})") +
              ",\n";
  const testing::TraceFolder folder;
  const std::filesystem::path path = folder.write("rank0.json", trace(events));
  const auto summary = [&path](unsigned threads) {
    const auto run = analyzer::open_run(std::span{&path, 1}, {.rank_map = {}, .progress = {}, .threads = threads});
    EXPECT_TRUE(run);
    std::vector<std::tuple<std::int64_t, std::string, std::int64_t>> rows;
    for (const Span& span : (*run)->spans())
      rows.emplace_back(ns_of(span.time.begin), (*run)->text(span.name),
                        (*run)->number((*run)->id_of(span), "External id").value_or(-1));
    return rows;
  };
  const auto alone = summary(1);
  EXPECT_EQ(alone.size(), 250000U);
  EXPECT_TRUE(alone == summary(4));
}

TEST(DamagedTrace, WhatAFileLostIsSaidWithItsName) {
  const testing::TraceFolder folder;
  const std::string whole = trace(op("a", 1, 2) + "," + op("b", 4, 2));
  folder.write("rank0.json", whole);
  folder.write("rank1.json", "{\"distributedInfo\": {\"rank\": 1}, \"traceEvents\": [" + op("a", 1, 2));
  const auto run = folder.open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT((*run)->info().places, ElementsAre(QualityPlace{Counter::truncated_input, 1, "rank1.json", RankId{1}}));
}

TEST(DamagedTrace, WhatTheProfilerSaysOfLostEventsIsCounted) {
  const testing::TraceFolder folder;
  folder.write("rank0.json", trace(op("a", 1, 2)));
  folder.write("rank1.json",
               "{\"distributedInfo\": {\"rank\": 1}, \"WARNING\": [\"Dropped 12 activity records\", \"a "
               "slow start\"], \"INFO\": [\"Processed 3 GPU records\"], \"traceEvents\": [" +
                   op("a", 1, 2) + "]}");
  const auto run = folder.open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(count(run, Counter::source_lost_events), 1U);
  EXPECT_THAT((*run)->info().places,
              ::testing::Contains(QualityPlace{Counter::source_lost_events, 1, "rank1.json", RankId{1}}));
}

TEST(DamagedTrace, FilesOfAFolderThatHoldNoTraceAreNamed) {
  const testing::TraceFolder folder;
  folder.write("rank0.json", trace(op("a", 1, 2)));
  folder.write("rank1.json", "");
  folder.write("rank2.json.gz", packed(""));
  folder.write("rank3.json.gz", "\x1f\x8b no gzip");
  folder.write("notes.md", "hello");
  folder.write("report.json", R"({"schema": "rankscope.report/1"})");
  const auto run = folder.open();
  expect_spans(run, {"a"});
  EXPECT_EQ(count(run, Counter::files_left_out), 3U);
  EXPECT_THAT((*run)->info().places,
              ElementsAre(QualityPlace{Counter::files_left_out, 1, "rank1.json, which is empty"},
                          QualityPlace{Counter::files_left_out, 1, "rank2.json.gz, which is empty"},
                          QualityPlace{Counter::files_left_out, 1,
                                       "rank3.json.gz, which is damaged: nothing in it can be unpacked"}));
}

}  // namespace
}  // namespace rankscope
