// Rows of lanes: by depth, never two spans on one place.
#include "rankscope/core/lod/run_lod.h"

#include <gtest/gtest.h>

#include <thread>

#include "rankscope/core/format.h"
#include "rankscope/core/model/text.h"

namespace rankscope::lod {
namespace {

std::shared_ptr<const RunLod> lod_of(const char* text) { return RunLod::build(*run_from_text(text), {}); }

TEST(RunLod, NestedSpansStandBelowWhatEnclosesThem) {
  const auto lod = lod_of(
      "0 forward 0 100 forward\n"
      "0 op 10 50 linear\n"
      "0 op 20 30 addmm\n"
      "0 op 60 90 relu\n");
  const LaneLod& lane = lod->lane(LaneId{0});
  ASSERT_EQ(lane.rows.size(), 3U);
  EXPECT_EQ(lane.rows[0].size(), 1U);
  EXPECT_EQ(lane.rows[1].size(), 2U);
  EXPECT_EQ(lod->place_of(SpanId{2}), (RowPlace{2, 0}));
  EXPECT_EQ(lod->place_of(SpanId{3}), (RowPlace{1, 1}));
}

TEST(RunLod, RecordsOfWaitingOnAStreamStandBelowItsKernels) {
  const auto lod = lod_of(
      "@rank 0\n@lane 0 s7 kind=stream number=7 device=0\n"
      "0 sync 0 100 wait lane=s7\n"
      "0 compute 10 50 gemm lane=s7\n"
      "0 compute 60 90 relu lane=s7\n");
  const LaneLod& lane = lod->lane(LaneId{0});
  ASSERT_EQ(lane.rows.size(), 2U);
  EXPECT_EQ(lane.rows[0].size(), 2U);
  EXPECT_EQ(lane.rows[0].span(0).kind, SpanKind::compute);
  EXPECT_EQ(lane.rows[1].span(0).kind, SpanKind::sync);
  EXPECT_EQ(lod->place_of(SpanId{0}), (RowPlace{1, 0}));
}

TEST(RunLod, SpansThatOverlapWithoutNestingStandInDifferentRows) {
  const auto lod = lod_of(
      "0 compute 0 50 a\n"
      "0 compute 20 80 b\n"
      "0 compute 60 70 c\n"
      "0 compute 80 90 d\n");
  for (const RowLod& row : lod->lane(LaneId{0}).rows)
    for (Place place = 1; place < row.size(); ++place)
      EXPECT_LE(row.span(place - 1).time.end, row.span(place).time.begin);
  std::size_t all = 0;
  for (const RowLod& row : lod->lane(LaneId{0}).rows) all += row.size();
  EXPECT_EQ(all, 4U);
}

/// Each begins before the one before it has ended.
TEST(RunLod, AChainOfOverlapsTakesTwoRows) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += format("0 compute {} {} a\n", i * 10, i * 10 + 15);
  const auto lod = lod_of(text.c_str());
  const auto& rows = lod->lane(LaneId{0}).rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].size(), 50U);
  EXPECT_EQ(rows[1].size(), 50U);
}

TEST(RunLod, ARowThatIsFreeAboveWhatEnclosesASpanIsNotTaken) {
  const auto lod = lod_of(
      "0 compute 0 50 a\n"
      "0 compute 20 100 b\n"
      "0 compute 60 90 c\n"
      "0 compute 70 95 d\n"
      "0 compute 91 94 e\n");
  const std::vector<std::uint32_t> expected{0, 1, 2, 3, 4};
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < expected.size(); ++i) found.push_back(lod->place_of(SpanId{i}).row);
  EXPECT_EQ(found, expected) << "the row of a is free from 50 on, but all others are inside of b";
}

TEST(RunLod, FindsEachSpanAgainAlsoWhereManyBeginAtOnce) {
  const auto lod = lod_of(
      "0 compute 0 0 a\n"
      "0 compute 0 0 b\n"
      "0 compute 0 40 c\n"
      "0 compute 40 40 d\n");
  for (std::uint32_t i = 0; i < 4; ++i) {
    const RowPlace found = lod->place_of(SpanId{i});
    EXPECT_EQ(lod->lane(LaneId{0}).rows[found.row].id(found.place), SpanId{i});
  }
}

TEST(RunLod, AStoppedBuildGivesNothing) {
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(RunLod::build(*run_from_text("0 compute 0 1 a\n"), source.get_token()), nullptr);
}

}  // namespace
}  // namespace rankscope::lod
