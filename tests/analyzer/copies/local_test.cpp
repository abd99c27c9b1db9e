#include "copies/local.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/synthetic_run.h"
#include "copies/merge.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

constexpr std::string_view copy_lanes =
    "@rank 0 pid=1 host=n0 recorded=0:300\n@lane 0 main kind=thread number=1\n"
    "@lane 0 s7 kind=stream number=7 device=0\n@lane 0 s9 kind=stream number=9 device=0\n";

const std::vector<StepWindow> copy_steps{{RankId{0}, 0, {at(0), at(100)}, true},
                                         {RankId{0}, 1, {at(100), at(200)}, true}};

CopiesPart copies_part(std::string_view text) {
  const auto run = run_of(std::string{copy_lanes} + std::string{text});
  return LocalCopies{*run}.of(RankId{0}, TimeCells{{at(0), at(300)}, copy_steps});
}

CopiesSection merged(const CopiesPart& part, std::optional<RunTime> first_step_end) {
  CopiesMerge merge;
  merge.add({RankId{0}, TimeCells{{at(0), at(300)}, copy_steps}, {{copy_steps[0].window, copy_steps[1].window}, 2}},
            part, first_step_end);
  return std::move(merge).finish();
}

TEST(LocalCopies, AreOfTheCellInWhichTheyBegin) {
  const CopiesPart part = copies_part("0 memory 90 120 \"Memset (Device)\" bytes=60 lane=s7\n");
  ASSERT_EQ(part.copies.size(), 2U);
  EXPECT_EQ(part.copies[0].cell, 1U);
  EXPECT_EQ(part.copies[0].count, 1);
  EXPECT_EQ(part.copies[0].sum_ns, 30);
  EXPECT_EQ(part.copies[0].bytes, 60);
  EXPECT_EQ(part.copies[0].exposed_ns, 10);
  EXPECT_EQ(part.copies[1].cell, 2U);
  EXPECT_EQ(part.copies[1].count, 0);
  EXPECT_EQ(part.copies[1].exposed_ns, 20) << "exposed time is of the cell that it is in";
}

TEST(LocalCopies, KnowWhichAllocationsWereBeforeTheFirstWork) {
  const CopiesPart part = copies_part(
      "0 runtime 10 20 cudaMalloc lane=main\n0 compute 30 40 a lane=s7\n0 runtime 50 60 cudaMalloc lane=main\n");
  ASSERT_EQ(part.calls.size(), 2U);
  EXPECT_EQ(part.calls[0].use, CallUse::allocation);
  EXPECT_NE(part.calls[0].before_work, part.calls[1].before_work);
  const CopiesSection without_steps = merged(part, std::nullopt);
  ASSERT_EQ(without_steps.allocations.size(), 1U);
  EXPECT_EQ(without_steps.allocations[0].count, 1) << "the other one is before the first work";
  EXPECT_TRUE(merged(part, at(100)).allocations.empty()) << "both are in the first step";
}

TEST(CopiesMerge, SizesThatDoNotFitTogetherAreLeftOut) {
  CopiesPart part;
  part.texts = {"Memset (Device)"};
  constexpr std::int64_t half = (std::int64_t{1} << 62) + 1;
  const CopiesPart::Copies first{
      .cell = 1, .count = 2, .sum_ns = 20, .bytes = half, .sized = 2, .measured_bytes = half, .measured_ns = 20};
  part.copies = {first, first};
  part.copies[1].cell = 2;
  const CopiesSection section = merged(part, std::nullopt);
  ASSERT_EQ(section.copies.size(), 1U);
  EXPECT_EQ(section.copies[0].count, 4);
  EXPECT_EQ(section.copies[0].bytes, half);
  EXPECT_EQ(section.copies[0].too_large, 2);
  EXPECT_EQ(section.copies[0].unmeasured, 2);
}

}  // namespace
}  // namespace rankscope::analyzer
