#include "rankscope/analyzer/memory/lines.h"

#include <gtest/gtest.h>

#include "analyzer/memory/memory_text.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"

namespace rankscope::analyzer {
namespace {

using rankscope::testing::gpu_rank;
using rankscope::testing::Heap;

const MemoryLine* line_of(const std::vector<MemoryLine>& lines, MemoryQuantity quantity) {
  const auto found = std::ranges::find(lines, quantity, &MemoryLine::quantity);
  return found == lines.end() ? nullptr : &*found;
}

TEST(MemoryLines, HaveEveryChangeAndTheOperatorItHappenedIn) {
  const auto run = *run_from_text(gpu_rank(0) + "0 op 0 50 aten::mm lane=main\n" +
                                  Heap(0, {}).take(10, 1, 600).take(20, 2, 300).give(60, 1).text());
  const auto lines = memory_lines(*run);
  ASSERT_EQ(lines.size(), 2U);
  const MemoryLine& allocated = *line_of(lines, MemoryQuantity::allocated);
  const StringId mm = run->strings().find("aten::mm");
  EXPECT_EQ(allocated.values, (std::vector<MemoryValue>{{at(10), 600, mm}, {at(20), 900, mm}, {at(60), 300, {}}}));
  EXPECT_FALSE(allocated.sampled);
  EXPECT_EQ(line_of(lines, MemoryQuantity::reserved)->values.back().bytes, 900);
}

TEST(MemoryLines, NameWhatTheDriverAndTheHostToldAsSamples) {
  const auto run = *run_from_text(
      "0 counter 10 1000 rss_bytes\n0 counter 20 3000 rss_bytes\n"
      "0 counter 10 5000 \"GPU 3 memory_used_bytes\"\n0 counter 20 -1 \"GPU 3 memory_used_bytes\"\n");
  const auto lines = memory_lines(*run);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].quantity, MemoryQuantity::used);
  EXPECT_EQ(lines[0].device, 3);
  EXPECT_EQ(lines[0].values.size(), 1U) << "what cannot be true is left out";
  EXPECT_EQ(lines[1].quantity, MemoryQuantity::resident);
  EXPECT_EQ(lines[1].values.back(), (MemoryValue{at(20), 3000, {}}));
  EXPECT_TRUE(lines[1].sampled);
}

TEST(MemoryLines, AddUpPoolsUntilTheyAreDestroyed) {
  const auto run = *run_from_text(
      "@lane 0 main kind=thread number=1\n"
      "0 mark 10 \"[memory pool]\" operation=created \"Device Id\"=1 Addr=7 \"pool bytes\"=100 lane=main\n"
      "0 mark 20 \"[memory pool]\" operation=created \"Device Id\"=1 Addr=8 \"pool bytes\"=50 lane=main\n"
      "0 mark 30 \"[memory pool]\" operation=trimmed \"Device Id\"=1 Addr=7 \"pool bytes\"=40 lane=main\n"
      "0 mark 40 \"[memory pool]\" operation=destroyed \"Device Id\"=1 Addr=8 lane=main\n");
  const auto lines = memory_lines(*run);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].quantity, MemoryQuantity::pools);
  EXPECT_EQ(lines[0].values,
            (std::vector<MemoryValue>{{at(10), 100, {}}, {at(20), 150, {}}, {at(30), 90, {}}, {at(40), 40, {}}}));
}

TEST(MemoryLines, AreEmptyWhereNoMemoryWasRecorded) {
  EXPECT_TRUE(memory_lines(**run_from_text("0 op 0 50 aten::mm\n0 counter 10 50 cpu_percent\n")).empty());
}

}  // namespace
}  // namespace rankscope::analyzer
