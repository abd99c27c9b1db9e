#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "rankscope/analyzer/export.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run_builder.h"
#include "rankscope/core/model/text.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::json;
using testing::read_file;
using testing::TemporaryFolder;

Result<void> export_chrome(const Run& run, const std::filesystem::path& out, const Progress& progress = {}) {
  for (const auto& row : exports()) {
    if (row.id == "chrome") return row.write(run, out, progress);
  }
  return fail(ErrorKind::usage, "no export named chrome");
}

std::string chrome_text(const std::string& run_text) {
  const auto run = run_from_text(run_text);
  EXPECT_TRUE(run) << run.error().message;
  if (!run) return "{}";
  const TemporaryFolder folder;
  const auto written = export_chrome(**run, folder / "t.json");
  EXPECT_TRUE(written) << written.error().message;
  return read_file(folder / "t.json");
}

std::vector<Json> events(const std::string& run_text, const std::string& phases) {
  std::vector<Json> found;
  const auto trace = Json::parse(chrome_text(run_text));
  for (const auto& event : trace.at("traceEvents")) {
    if (phases.find(event.at("ph").get<std::string>()) != std::string::npos) found.push_back(event);
  }
  return found;
}

/// Nanoseconds of a ts or dur, which have three decimals.
std::int64_t ns(const Json& micros) { return std::llround(micros.get<double>() * 1000); }

using RowId = std::pair<std::int64_t, std::int64_t>;
RowId row_of(const Json& event) { return {event.at("pid").get<std::int64_t>(), event.at("tid").get<std::int64_t>()}; }

struct Slice {
  std::int64_t begin;
  std::int64_t end;
};

/// True if the slices of a row, in the order of the file, form a tree.
bool nests(const std::vector<Slice>& slices) {
  std::vector<std::int64_t> open;
  for (const auto& slice : slices) {
    while (!open.empty() && open.back() <= slice.begin) open.pop_back();
    if (!open.empty() && open.back() < slice.end) return false;
    open.push_back(slice.end);
  }
  return true;
}

/// What every reader of the format relies on.
void expect_sound(const std::string& run_text) {
  std::map<RowId, std::vector<Slice>> rows;
  std::map<std::int64_t, std::vector<Json>> flows;
  for (const auto& event : events(run_text, "XiCstf")) {
    EXPECT_GE(ns(event.at("ts")), 0) << event;
    if (event.at("ph") == "X") {
      EXPECT_GE(ns(event.at("dur")), 0) << event;
      rows[row_of(event)].push_back({ns(event.at("ts")), ns(event.at("ts")) + ns(event.at("dur"))});
    }
    if (event.contains("id")) flows[event.at("id").get<std::int64_t>()].push_back(event);
  }
  for (const auto& [row, slices] : rows) EXPECT_TRUE(nests(slices)) << row.first << " " << row.second;
  for (auto& [id, steps] : flows) {
    std::ranges::stable_sort(steps, {}, [](const Json& event) { return ns(event.at("ts")); });
    EXPECT_EQ(steps.front().at("ph"), "s") << id;
    EXPECT_EQ(steps.back().at("ph"), "f") << id;
    for (const auto& step : steps) {
      const auto& slices = rows[row_of(step)];
      EXPECT_TRUE(std::ranges::any_of(slices, [&](const Slice& slice) {
        return slice.begin <= ns(step.at("ts")) && ns(step.at("ts")) < slice.end;
      })) << step;
    }
  }
}

std::vector<Json> arrows(const std::string& run_text) {
  expect_sound(run_text);
  return events(run_text, "stf");
}

TEST(Chrome, TheArrowOfAPairLeadsFromTheSenderToTheReceiver) {
  const std::string receiver_waits =
      "@group pp 0,1\n"
      "0 comm 50 90 send group=pp peer=1 bytes=8\n"
      "1 comm 10 95 recv group=pp peer=0 bytes=8\n";
  const auto found = arrows(receiver_waits);
  ASSERT_EQ(found.size(), 2U);
  const auto& start = found[0].at("ph") == "s" ? found[0] : found[1];
  const auto& end = found[0].at("ph") == "s" ? found[1] : found[0];
  EXPECT_EQ(start.at("pid"), 1) << "rank 0 sends";
  EXPECT_EQ(end.at("pid"), 2);
  EXPECT_EQ(ns(start.at("ts")), 50);
  EXPECT_EQ(ns(end.at("ts")), 50) << "not back in time, to where the receiver began to wait";
}

TEST(Chrome, WithoutSequenceNumbersOperationsAreMatchedInCallOrder) {
  const auto found = arrows(
      "@group dp 0,1\n"
      "0 comm 0 10 allreduce group=dp seq=-1\n0 comm 20 30 allreduce group=dp seq=-1\n"
      "1 comm 2 10 allreduce group=dp seq=-1\n1 comm 22 30 allreduce group=dp seq=-1\n");
  EXPECT_EQ(found.size(), 4U) << "as the analyses match them";
}

TEST(Chrome, RanksThatDisagreeAboutAnOperationShareNoArrow) {
  EXPECT_TRUE(
      arrows("@group dp 0,1\n0 comm 0 10 allreduce group=dp seq=0\n1 comm 2 10 barrier group=dp seq=0\n").empty());
}

TEST(Chrome, TimesAreMicrosecondsWithThreeDecimals) {
  const auto text = chrome_text("0 compute 0 1 first\n0 compute 1234567 2345678 gemm\n");
  EXPECT_NE(text.find("\"ts\":1234.567,\"dur\":1111.111"), std::string::npos) << text;
}

TEST(Chrome, TimesOfLongRunsStayExact) {
  const auto text = chrome_text("0 compute 0 1 first\n0 compute 4000000000000001 4000000000000009 late\n");
  EXPECT_NE(text.find("\"ts\":4000000000000.001,\"dur\":0.008"), std::string::npos) << text;
}

TEST(Chrome, ARunThatBeginsBeforeZeroIsMovedToZero) {
  const auto slices = events("0 compute -500 100 a\n0 compute 200 300 b\n", "X");
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(ns(slices[0].at("ts")), 0);
  EXPECT_EQ(ns(slices[1].at("ts")), 700);
}

TEST(Chrome, TheOriginIsAnIntegerAtTheTop) {
  const auto trace = Json::parse(chrome_text("@run origin_unix=1700000000123456789\n0 compute 0 1 a\n"));
  EXPECT_EQ(trace.at("baseTimeNanoseconds").get<std::int64_t>(), 1700000000123456789);
  EXPECT_EQ(trace.at("displayTimeUnit"), "ms");
}

TEST(Chrome, EveryRankIsAProcessWithItsHost) {
  std::map<std::int64_t, std::string> names;
  for (const auto& event : events("@rank 0 host=n0\n0 op 0 1 a\n@rank 3 host=n1\n3 op 0 1 a\n", "M")) {
    if (event.at("name") == "process_name") names[event.at("pid").get<std::int64_t>()] = event.at("args").at("name");
  }
  EXPECT_EQ(names, (std::map<std::int64_t, std::string>{{1, "rank 0 (n0)"}, {4, "rank 3 (n1)"}}));
}

TEST(Chrome, LanesAreNamedThreadsWithTheCommunicationLast) {
  std::vector<std::string> names;
  std::set<RowId> rows;
  for (const auto& event : events("@group dp 0\n0 comm 0 5 allreduce group=dp\n0 op 0 1 a\n", "M")) {
    if (event.at("name") != "thread_name") continue;
    names.push_back(event.at("args").at("name"));
    rows.insert(row_of(event));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"main", "comm"}));
  EXPECT_EQ(rows.size(), 2U);
}

TEST(Chrome, PartlyOverlappingSpansGoToRowsOfTheirOwn) {
  const std::string run = "0 compute 0 10 a\n0 compute 5 15 b\n0 compute 6 9 c\n";
  std::set<std::string> names;
  for (const auto& event : events(run, "M")) {
    if (event.at("name") == "thread_name") names.insert(event.at("args").at("name").get<std::string>());
  }
  EXPECT_EQ(names, (std::set<std::string>{"stream 0", "stream 0 (2)"}));
  expect_sound(run);
}

TEST(Chrome, MembersOfACollectiveAreJoinedInOrderOfTheirStart) {
  const auto arrows = events(
      "@group dp 0,1,2\n"
      "0 comm 20 50 allreduce group=dp seq=0\n"
      "1 comm 10 50 allreduce group=dp seq=0\n"
      "2 comm 30 50 allreduce group=dp seq=0\n",
      "stf");
  std::map<std::string, std::int64_t> pids;
  for (const auto& arrow : arrows) {
    pids[arrow.at("ph")] = arrow.at("pid").get<std::int64_t>();
    EXPECT_EQ(arrow.at("id"), 1);
    EXPECT_TRUE(arrow.at("ph") == "s" || arrow.at("bp") == "e");
  }
  EXPECT_EQ(pids, (std::map<std::string, std::int64_t>{{"s", 2}, {"t", 1}, {"f", 3}}));
}

TEST(Chrome, ACollectiveTellsWhatItWasAndHowLongItWaited) {
  const auto slices = events(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 comm 20 50 allreduce group=dp seq=7 bytes=4096 dtype=f32 enqueued=15\n"
      "1 comm 30 50 allreduce group=dp seq=7 bytes=4096 dtype=f32\n",
      "X");
  ASSERT_EQ(slices.size(), 2U);
  const auto& arguments = slices[0].at("args");
  EXPECT_EQ(arguments.at("group"), "dp");
  EXPECT_EQ(arguments.at("seq"), 7);
  EXPECT_EQ(arguments.at("bytes"), 4096);
  EXPECT_EQ(arguments.at("dtype"), "f32");
  EXPECT_EQ(arguments.at("enqueued_ns"), 5);
  EXPECT_EQ(arguments.at("wait_ns"), 10);
  EXPECT_EQ(arguments.at("waited_for"), 1);
  EXPECT_EQ(slices[1].at("args").at("wait_ns"), 0);
  EXPECT_FALSE(slices[1].at("args").contains("waited_for")) << "it was the last";
}

TEST(Chrome, MembersOfABroadcastWaitForItsRootAlone) {
  const auto slices = events(
      "@run clock=same_host\n@group dp 0,1,2\n"
      "0 comm 30000 60000 broadcast group=dp seq=0 peer=0\n"
      "1 comm 10000 60000 broadcast group=dp seq=0 peer=0\n"
      "2 comm 50000 60000 broadcast group=dp seq=0 peer=0\n",
      "X");
  ASSERT_EQ(slices.size(), 3U);
  std::vector<std::int64_t> waits;
  for (const auto& slice : slices) waits.push_back(slice.at("args").at("wait_ns").get<std::int64_t>());
  EXPECT_EQ(waits, (std::vector<std::int64_t>{0, 20'000, 0}));
  EXPECT_EQ(slices[1].at("args").at("waited_for"), 0) << "rank 2 came later, and nobody waited for it";
  for (const std::size_t other : {0U, 2U}) EXPECT_FALSE(slices[other].at("args").contains("waited_for"));
}

TEST(Chrome, AMemberWithoutPartnersHasNoArrow) {
  EXPECT_TRUE(events("@group dp 0,1\n0 comm 20 50 allreduce group=dp seq=0\n", "stf").empty());
}

TEST(Chrome, ACollectiveThatNeverStartedIsAnInstant) {
  const auto instants = events("@group dp 0,1\n0 op 0 50 a\n0 comm 38 - allreduce group=dp on=main\n", "i");
  ASSERT_EQ(instants.size(), 1U);
  EXPECT_EQ(instants[0].at("name"), "allreduce (enqueued, never started)");
  EXPECT_EQ(ns(instants[0].at("ts")), 38);
}

TEST(Chrome, MarksAreInstantsOfTheirLane) {
  const std::string run = "0 op 0 50 a\n0 mark 30 checkpoint\n";
  const auto instants = events(run, "i");
  ASSERT_EQ(instants.size(), 1U);
  EXPECT_EQ(row_of(instants[0]), row_of(events(run, "X").at(0)));
}

TEST(Chrome, CountersShowTheirUnit) {
  const auto counters = events("0 op 0 50 a\n0 counter 10 1024.5 rss_bytes\n", "C");
  ASSERT_EQ(counters.size(), 1U);
  EXPECT_EQ(counters[0].at("name"), "rss");
  EXPECT_EQ(counters[0].at("args").at("bytes"), 1024.5);
}

TEST(Chrome, LargeIntegersAreTextSmallOnesNumbers) {
  const auto slices = events("0 op 0 50 a big=9007199254740993 small=9007199254740992 note=hello\n", "X");
  const auto& arguments = slices.at(0).at("args");
  EXPECT_EQ(arguments.at("big"), "9007199254740993");
  EXPECT_EQ(arguments.at("small"), 9007199254740992);
  EXPECT_EQ(arguments.at("note"), "hello");
}

TEST(Chrome, ACutSpanSaysSo) { EXPECT_EQ(events("0 op 0 50 a cut=end\n", "X").at(0).at("args").at("cut"), "end"); }

TEST(Chrome, NamesWithAnyBytesStayValid) {
  RunBuilder builder;
  const auto process = builder.add_process({.rank = RankId{0}});
  const auto lane = builder.add_lane(process, LaneKind::thread, "ma\x01in", 1);
  builder.add_span(lane, SpanKind::op, builder.intern("a\"b\\c\n\x1b[31m\xff\xc3(\xed\xa0\x80 é €"), {at(0), at(10)});
  const auto run = std::move(builder).build();
  ASSERT_TRUE(run);
  const TemporaryFolder folder;
  ASSERT_TRUE(export_chrome(**run, folder / "t.json"));
  const auto text = read_file(folder / "t.json");
  const auto trace = Json::parse(text);  // throws on invalid UTF-8
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(trace.at("traceEvents").back().at("name"), "a\"b\\c\n\x1b[31m\uFFFD\uFFFD(\uFFFD\uFFFD\uFFFD é €");
}

TEST(Chrome, AnyMixtureOfSpansIsSound) {
  std::mt19937 random{7};
  std::string text = "@group dp 0,1,2\n";
  for (int rank = 0; rank < 3; ++rank) {
    for (int i = 0; i < 200; ++i) {
      const auto begin = random() % 1000;
      text += format("{} compute {} {} k{}\n", rank, begin, begin + random() % 100, i);
    }
    for (int seq = 0; seq < 40; ++seq) {
      const auto begin = static_cast<unsigned>(seq) * 25 + random() % 20;
      text += format("{} comm {} {} allreduce group=dp seq={}\n", rank, begin, begin + random() % 60, seq);
    }
  }
  expect_sound(text);
}

TEST(Chrome, TheSameRunGivesTheSameBytes) {
  const std::string run =
      "@group dp 0,1\n0 op 0 50 a x=1\n1 op 0 50 a\n0 comm 0 5 allreduce group=dp\n1 comm 1 5 allreduce group=dp\n";
  EXPECT_EQ(chrome_text(run), chrome_text(run));
}

TEST(Chrome, ACancelledExportLeavesNothing) {
  const auto run = run_from_text("0 op 0 50 a\n");
  const TemporaryFolder folder;
  const auto written = export_chrome(**run, folder / "t.json", [](double) { return false; });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::cannot_write);
  EXPECT_EQ(folder.file_count(), 0U);
}

TEST(Chrome, AFullDiskIsAnErrorThatNamesThePath) {
  const auto run = run_from_text("0 op 0 50 a\n");
  const auto written = export_chrome(**run, "/dev/full");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::cannot_write);
  EXPECT_NE(written.error().message.find("/dev/full"), std::string::npos);
}

}  // namespace
}  // namespace rankscope::analyzer
