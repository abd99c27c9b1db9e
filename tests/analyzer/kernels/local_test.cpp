#include "kernels/local.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/synthetic_run.h"
#include "kernels/merge.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

constexpr std::string_view stream_lanes =
    "@rank 0 pid=1 host=n0 recorded=0:300\n@lane 0 s7 kind=stream number=7 device=0\n"
    "@lane 0 s9 kind=stream number=9 device=0\n";

StepWindow step(std::int64_t index, std::int64_t begin, std::int64_t end) {
  return {RankId{0}, index, {at(begin), at(end)}, true};
}

const std::vector<StepWindow> two_steps{step(0, 0, 100), step(1, 100, 200)};

KernelsPart part_of(std::string_view text, const TimeCells& cells) {
  const auto run = run_of(std::string{stream_lanes} + std::string{text});
  return LocalKernels{*run}.of(RankId{0}, cells);
}

/// "name in cell: begun, exclusive time"
std::vector<std::string> entries_of(const KernelsPart& part) {
  std::vector<std::string> lines;
  for (const KernelsPart::Entry& entry : part.entries)
    lines.push_back(format("{} in {}: {}, {} ns", part.texts[part.keys[entry.key].name], entry.cell, entry.begun,
                           entry.exclusive_ns));
  return lines;
}

TEST(LocalKernels, ChargeEachCellWithWhatRanInIt) {
  const TimeCells cells{{at(0), at(300)}, two_steps};
  const KernelsPart part = part_of("0 compute 80 230 a lane=s7\n0 compute 90 240 b lane=s9\n", cells);
  EXPECT_EQ(entries_of(part), (std::vector<std::string>{"a in 1: 1, 20 ns", "a in 2: 0, 100 ns", "a in 3: 0, 30 ns",
                                                        "b in 1: 1, 0 ns", "b in 3: 0, 10 ns"}));
  EXPECT_EQ(part.durations, (std::vector<std::int64_t>{150, 150})) << "whole ones, where they begin";
}

TEST(LocalKernels, WhatRanTogetherAddsUpToEachCell) {
  const TimeCells cells{{at(0), at(300)}, two_steps};
  const KernelsPart part = part_of("0 compute 80 130 a lane=s7\n0 memory 120 140 \"Memset (Device)\" lane=s9\n", cells);
  ASSERT_EQ(part.together.size(), 3U);
  EXPECT_EQ(part.together[0], (std::array<std::int64_t, together_count>{80, 20}));
  EXPECT_EQ(part.together[1], (std::array<std::int64_t, together_count>{60, 20, 0, 0, 10, 10}));
  EXPECT_EQ(part.together[2], (std::array<std::int64_t, together_count>{100}));
}

TEST(LocalKernels, NameTheirFirstActivityInEachCell) {
  const TimeCells cells{{at(0), at(300)}, two_steps};
  const KernelsPart part = part_of(
      "0 compute 0 10 a lane=s7\n0 compute 10 20 b lane=s7\n0 compute 20 30 a lane=s7\n0 compute 110 120 b lane=s7\n",
      cells);
  std::vector<std::uint32_t> first;
  for (const KernelsPart::Entry& entry : part.entries) first.push_back(entry.first);
  EXPECT_EQ(first, (std::vector<std::uint32_t>{0, 1, 3}));
}

TEST(LocalKernels, OfRanksWithoutAnyAreStillTime) {
  const TimeCells cells{{at(0), at(300)}, two_steps};
  const auto run = run_of("@rank 0 pid=1 host=n0 recorded=0:300\n0 op 0 10 aten::mm\n");
  const KernelsPart part = LocalKernels{*run}.of(RankId{0}, cells);
  EXPECT_TRUE(part.entries.empty());
  EXPECT_EQ(part.together.size(), 3U);
}

/// Of names that took equally long, the one that ran first in the counted steps comes first.
TEST(KernelMerge, BreaksTiesByWhatIsCounted) {
  const TimeCells cells{{at(0), at(300)}, two_steps};
  const KernelsPart part =
      part_of("0 compute 0 10 b lane=s7\n0 compute 110 120 a lane=s7\n0 compute 120 130 b lane=s7\n", cells);
  const auto names_in = [&](std::vector<TimeRange> windows) {
    KernelMerge merge;
    const auto steps = static_cast<std::int64_t>(windows.size());
    merge.add({RankId{0}, cells, {std::move(windows), steps}}, part);
    const auto section = std::move(merge).finish();
    std::vector<std::string> names;
    for (const RankKernelRow& row : section->ranks.front().names) names.push_back(section->names[row.name].name);
    return names;
  };
  EXPECT_EQ(names_in({{at(100), at(200)}}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(names_in({{at(0), at(100)}}), (std::vector<std::string>{"b"}));
}

/// Marks whose numbers jump may overlap: time in two counted steps is window time of both, and charged once.
TEST(KernelMerge, OfOverlappingStepsChargesTimeOnce) {
  const std::vector<StepWindow> overlapping{step(0, 0, 100), step(5, 50, 150)};
  const TimeCells cells{{at(0), at(300)}, overlapping};
  const KernelsPart part = part_of("0 compute 60 90 a lane=s7\n", cells);
  KernelMerge merge;
  merge.add({RankId{0}, cells, {{overlapping[0].window, overlapping[1].window}, 2}}, part);
  const auto section = std::move(merge).finish();
  EXPECT_EQ(section->exclusive_ns, 30);
  EXPECT_EQ(section->window_ns, 200);
  EXPECT_EQ(section->ranks.front().together[1], 60);
  EXPECT_EQ(section->names.front().times.count, 1);
}

}  // namespace
}  // namespace rankscope::analyzer
