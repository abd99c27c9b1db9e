
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/memory/memory_text.h"
#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/render.h"

namespace rankscope::analyzer {
namespace {

using testing::gpu_rank;
using ::testing::HasSubstr;
using testing::Heap;
using testing::run_of;

constexpr std::int64_t mega = 1'000'000;
constexpr std::int64_t giga = 1'000 * mega;

std::vector<Finding> findings_in(const std::string& text) {
  std::vector<Finding> findings = analyze(*run_of(text), {}).findings.value_or(std::vector<Finding>{});
  std::erase_if(findings, [](const Finding& finding) { return !finding.id.starts_with("memory_"); });
  return findings;
}

std::string work(std::uint32_t rank, std::int64_t steps) {
  std::string text;
  for (std::int64_t i = 0; i < steps; ++i)
    text += format("{0} step {1} {2} step index={3} lane=main\n{0} op {1} {4} aten::mm lane=main\n", rank, 100 * i,
                   100 * i + 100, i, 100 * i + 90);
  return text + format("{} compute 0 90 gemm lane=s7\n", rank);
}

TEST(MemoryFindings, ADeviceThatIsNearlyFullIsOne) {
  const auto full = [](std::int64_t reserved) {
    Heap heap{0, {.allocated = reserved - mega, .reserved = reserved}};
    return findings_in(gpu_rank(0, 80 * giga) + work(0, 3) + heap.take(110, 1, mega).text());
  };
  EXPECT_TRUE(full(71 * giga).empty());
  EXPECT_EQ(full(73 * giga).at(0).severity, FindingSeverity::minor);
  EXPECT_EQ(full(77 * giga).at(0).severity, FindingSeverity::major);
  const Finding worst = full(79 * giga).at(0);
  EXPECT_EQ(worst.severity, FindingSeverity::critical);
  EXPECT_EQ(worst.id, "memory_near_limit");
  EXPECT_EQ(worst.rank, RankId{0});
  EXPECT_EQ(worst.step, 1);
  EXPECT_THAT(worst.title, HasSubstr("1.00 GB of 80.0 GB is left"));
  EXPECT_THAT(worst.evidence, HasSubstr("rank 0, device 0: reserved memory peaked at 79.0 GB"));
  EXPECT_THAT(worst.evidence, HasSubstr("in step 1 (peak reached during an allocation for aten::mm"));
  EXPECT_THAT(worst.advice, HasSubstr("gradient accumulation"));
}

TEST(MemoryFindings, MemoryThatIsHeldUnusedIsOneWhereMuchIsReserved) {
  const auto unused = [](std::int64_t allocated, std::int64_t reserved) {
    Heap heap{0, {.allocated = allocated, .reserved = reserved}};
    return findings_in(gpu_rank(0, 80 * giga) + work(0, 3) + heap.take(110, 1, 1).text());
  };
  EXPECT_TRUE(unused(44 * giga, 50 * giga).empty());
  EXPECT_TRUE(unused(10 * giga, 39 * giga).empty()) << "half of the device is free";
  EXPECT_EQ(unused(40 * giga, 50 * giga).at(0).severity, FindingSeverity::minor);
  EXPECT_EQ(unused(35 * giga, 50 * giga).at(0).severity, FindingSeverity::major);
  const Finding worst = unused(25 * giga, 50 * giga).at(0);
  EXPECT_EQ(worst.severity, FindingSeverity::critical);
  EXPECT_EQ(worst.id, "memory_fragmentation");
  EXPECT_THAT(worst.advice, HasSubstr("expandable_segments"));
}

TEST(MemoryFindings, UnevenPeersAreOne) {
  const auto uneven = [](std::int64_t bytes, std::int64_t most) {
    std::string text = "@run clock=same_host clock_error=1000\n";
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      Heap heap{rank, {}};
      text += gpu_rank(rank, 80 * giga) + work(rank, 3) + heap.take(110, 1, rank == 2 ? most : bytes).text();
    }
    return findings_in(text);
  };
  EXPECT_TRUE(uneven(1'000 * mega, 1'100 * mega).empty());
  EXPECT_TRUE(uneven(mega, 2 * mega).empty()) << "nobody cares for a megabyte";
  const Finding found = uneven(1'000 * mega, 1'400 * mega).at(0);
  EXPECT_EQ(found.id, "memory_imbalance");
  EXPECT_EQ(found.severity, FindingSeverity::major);
  EXPECT_EQ(found.rank, RankId{2});
  EXPECT_THAT(found.title, HasSubstr("rank 2 needs 1.40 times the memory of its peers"));
}

std::string leak(std::int64_t bytes_per_step, std::int64_t steps) {
  Heap heap{0, {.allocated = 10 * giga, .reserved = 10 * giga}};
  for (std::int64_t step = 0; step < steps; ++step) {
    heap.take(100 * step + 10, 1, giga).give(100 * step + 50, 1);
    if (bytes_per_step > 0) heap.take(100 * step + 60, 100 + step, bytes_per_step);
  }
  return gpu_rank(0, 80 * giga) + work(0, steps) + heap.text();
}

TEST(MemoryFindings, MemoryThatGrowsFromStepToStepIsOne) {
  EXPECT_TRUE(findings_in(leak(0, 30)).empty());
  EXPECT_TRUE(findings_in(leak(1'000, 30)).empty()) << "too little to matter";
  EXPECT_TRUE(findings_in(leak(100 * mega, 15)).empty()) << "too few steps";
  const Finding found = findings_in(leak(100 * mega, 30)).at(0);
  EXPECT_EQ(found.id, "memory_growth");
  EXPECT_EQ(found.severity, FindingSeverity::minor);
  EXPECT_THAT(found.evidence, HasSubstr("rank 0, device 0: growth of 100 MB per step over 30 steps"));
  EXPECT_THAT(found.evidence, HasSubstr("the device is full after"));
  EXPECT_THAT(found.advice, HasSubstr(".detach()"));
  EXPECT_EQ(findings_in(leak(300 * mega, 30)).at(0).severity, FindingSeverity::major) << "full within 300 steps";
}

TEST(MemoryFindings, AProcessThatGrowsOnTheHostIsOne) {
  std::string text = "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n" + work(0, 30);
  for (std::int64_t step = 0; step < 30; ++step)
    text += format("0 counter {} {} rss_bytes\n", 100 * step + 50, giga + 20 * mega * step);
  const Finding found = findings_in(text).at(0);
  EXPECT_EQ(found.id, "memory_growth.host");
  EXPECT_EQ(found.severity, FindingSeverity::minor);
  EXPECT_THAT(found.title, HasSubstr("memory of the host"));
}

TEST(MemoryFindings, GainNoTimeThatCanBeTold) {
  Heap heap{0, {.allocated = 79 * giga, .reserved = 79 * giga}};
  const auto run = run_of(gpu_rank(0, 80 * giga) + work(0, 3) + heap.take(110, 1, mega).text());
  const auto json = nlohmann::ordered_json::parse(render_json(analyze(*run, {}), *run, {}));
  for (const auto& finding : json.at("findings")) {
    if (finding.at("id") != "memory_near_limit") continue;
    EXPECT_TRUE(finding.at("gain_ns_per_step").is_null());
    EXPECT_THAT(finding.at("why").at("gain_ns_per_step").get<std::string>(),
                HasSubstr("memory does not change the step time"));
    return;
  }
  FAIL() << "no finding";
}

}  // namespace
}  // namespace rankscope::analyzer
