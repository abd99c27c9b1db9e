// The block "rankscope" of traces that our own export did not write, or that were changed since.
#include <gmock/gmock.h>

#include "rankscope/core/model/run.h"
#include "trace_text.h"
#include "words/keys.h"

namespace rankscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::op;

std::shared_ptr<const Run> run_with(std::string_view block) {
  const testing::TraceFolder folder;
  const auto run = analyzer::open_run(
      folder.write("rank-0.json", testing::trace(op("a", 1, 2), "\"rankscope\": " + std::string{block})));
  EXPECT_TRUE(run) << run.error().message;
  return run ? *run : nullptr;
}

std::string block(std::string_view members) {
  return R"({"schema": "rankscope.kineto/1", )" + std::string{members} + "}";
}

std::string rows(std::string_view collectives) {
  return R"({"schema": "rankscope.kineto/1", "source": "nsys", "rows": {"clock": "same_host", "lanes": [[7, 7, "thread", "main"]], "collectives": [)" +
         std::string{collectives} + "]}}";
}

TEST(OwnBlock, RowsThatCannotBeUsedAreCountedWithTheirPlace) {
  const auto run = run_with(rows(R"(
      ["allreduce", "f32", -1, 0, 8, -1, 2, 1000, 2000, 3000, 0, 0, 0],
      ["allreduce", "f32", -1, 1, 8, -1, 2, 1000, 3000, 2000, 0, 0, 0],
      ["allreduce", "f32", -1, 2, 8, -1, 9, 1000, 2000, 3000, 0, 0, 0],
      ["allreduce", "f32", 5, 3, 8, -1, 2, 1000, 2000, 3000, 0, 0, 0],
      ["allreduce", "f32", -1, 4, 8, -1, 2, 1000, 2000, 3000, -1, -1, 0],
      ["short"])"));
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->collectives().size(), 1U);
  EXPECT_EQ(run->quality().of(Counter::events_incomplete), 5U);
  EXPECT_THAT(run->info().places,
              ElementsAre(QualityPlace{Counter::events_incomplete, 5,
                                       "rank-0.json: collectives of the rankscope block, first row 1"}));
}

TEST(OwnBlock, OnlySourcesThatTheAnalysesKnowAreTaken) {
  EXPECT_EQ(run_with(block(R"("source": "nsys")"))->info().source, "nsys");
  EXPECT_EQ(run_with(block(R"("source": "rankscope")"))->info().source, "rankscope");
  EXPECT_EQ(run_with(block(R"("source": "mine")"))->info().source, "kineto");
}

TEST(OwnBlock, OfAnotherSchemaItIsDroppedAsAWhole) {
  for (const std::string_view text : {R"({"schema": "rankscope.kineto/2", "source": "nsys", "run": {"a": "b"}})",
                                      R"({"source": "nsys", "run": {"a": "b"}})"}) {
    const auto run = run_with(text);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(run->info().source, "kineto");
    EXPECT_THAT(run->info().metadata, IsEmpty());
    EXPECT_EQ(run->quality().of(Counter::blocks_dropped), 1U);
    EXPECT_THAT(run->info().places,
                ElementsAre(QualityPlace{Counter::blocks_dropped, 1,
                                         "rank-0.json: the rankscope block, whose schema is not rankscope.kineto/1"}));
  }
}

TEST(OwnBlock, AnOffsetThatNoTimeCanHaveIsNone) {
  const auto fact = [](std::string_view offset) {
    const auto run = run_with(block(R"("process": {"file_time_offset_ns": ")" + std::string{offset} + R"("})"));
    return std::string{run->metadata(run->processes()[0], analyzer::keys::file_time_offset)};
  };
  EXPECT_EQ(fact("5"), "1005") << "the only event begins at 1 us";
  EXPECT_EQ(fact("-5"), "995");
  for (const std::string_view odd : {"9223372036854775807", "-9223372036854775808", "2305843009213693952",
                                     "2305843009213693951", "99999999999999999999", "1e3", "x", ""})
    EXPECT_EQ(fact(odd), "") << odd;
}

TEST(OwnBlock, PlacesAreKeptOnceInTheirOrder) {
  const auto run = run_with(block(R"("places": [["events_dropped", 2, "b"], ["events_dropped", 1, "a"],
      ["events_dropped", 2, "b"], ["segment_cut", 2, "b"]])"));
  ASSERT_NE(run, nullptr);
  EXPECT_THAT(run->info().places,
              ElementsAre(QualityPlace{Counter::events_dropped, 2, "b"}, QualityPlace{Counter::events_dropped, 1, "a"},
                          QualityPlace{Counter::segment_cut, 2, "b"}));
}

TEST(OwnBlock, APlaceMaySayWhoseDataWasLost) {
  const auto run = run_with(block(R"("places": [["events_dropped", 2, "b", 3], ["segment_cut", 1, "c", -7]])"));
  ASSERT_NE(run, nullptr);
  EXPECT_THAT(run->info().places, ElementsAre(QualityPlace{Counter::events_dropped, 2, "b", RankId{3}},
                                              QualityPlace{Counter::segment_cut, 1, "c"}));
}

TEST(OwnBlock, ManyPlacesAreNotComparedWithEachOther) {
  std::string places;
  for (int i = 0; i < 200'000; ++i)  // each with each would be 2 * 10^10 comparisons
    places += (i == 0 ? "" : ",") + std::string{R"(["events_dropped",1,"file )"} + std::to_string(i) + "\"]";
  EXPECT_EQ(run_with(block("\"places\": [" + places + "]"))->info().places.size(), 200'000U);
}

TEST(OwnBlock, APidThatNoSystemHasIsNone) {
  EXPECT_EQ(run_with(block(R"("pid": 12)"))->processes()[0].pid, 12);
  EXPECT_EQ(run_with(block(R"("pid": 9223372036854775807)"))->processes()[0].pid, 7) << "that of the events";
}

}  // namespace
}  // namespace rankscope
