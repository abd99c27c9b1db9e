#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

constexpr std::string_view program_lanes =
    "@lane 0 main kind=thread number=1\n"
    "@lane 0 s7 kind=stream number=7 device=0\n";

Report report_of(const std::string& text) { return analyze(*run_of(std::string{program_lanes} + text), {}); }

const Finding* found(const Report& report, std::string_view id) {
  const auto finding = std::ranges::find(*report.findings, id, &Finding::id);
  return finding == report.findings->end() ? nullptr : &*finding;
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// A program without steps: it allocates until 800 µs, computes from 800 to 900 and, after `pause` µs in which it
/// allocates again, once more for 100; then nothing follows for 100.
std::string program(int pause, std::string_view more = "") {
  const int second = 900 + pause;
  return format(
      "0 runtime 0 780000 cudaMalloc lane=main\n"
      "0 runtime 10000 700000 ioctl lane=main cat=os_runtime\n"
      "0 runtime 790000 800000 cudaLaunchKernel lane=main\n"
      "0 runtime 890000 {2}000 cudaMalloc lane=main\n"
      "0 runtime 900000 {2}000 ioctl lane=main cat=os_runtime\n"
      "0 runtime {2}000 {0}000 cudaLaunchKernel lane=main\n"
      "0 runtime {1}000 {3}000 cudaGetDevice lane=main\n"
      "0 compute 800000 900000 a lane=s7\n"
      "0 compute {0}000 {1}000 b lane=s7\n"
      "@link launch 2 7\n@link launch 5 8\n{4}",
      second, second + 100, second - 5, second + 200, more);
}

TEST(IdleFindings, WithoutStepsStartUpAndTheEndAreNotJudged) {
  const Report report = report_of(program(50));
  const Finding* const idle = found(report, "idle");
  ASSERT_NE(idle, nullptr);
  EXPECT_EQ(idle->title, "20 % of the time between the first and the last device work, nothing runs");
  EXPECT_EQ(
      idle->evidence,
      "50.0 µs idle per rank: 50.0 µs because the host launched late; longest within the largest part: the host "
      "was late in cudaMalloc, 45.0 µs; not counted: 800 µs before the first device work and 100 µs after the last");
  EXPECT_EQ(report.rank_rows->front().before_work_ns, 800'000);
  EXPECT_EQ(report.rank_rows->front().after_work_ns, 100'000);
  EXPECT_EQ(found(report_of(program(5)), "idle"), nullptr) << "a long start-up alone is none";
}

/// Steps of 100 ms, of which the device works 20; the host is in prepare() before it launches, and was sampled there.
std::string late_program(std::string_view code) {
  std::string text = "@lane 0 \"python stacks\" kind=thread number=2\n";
  constexpr std::int64_t ms = 1'000'000;
  for (std::int64_t step = 0; step < 10; ++step) {
    const std::int64_t begin = step * 100 * ms;
    text += format("0 step {} {} step index={} lane=main\n", begin, begin + 100 * ms, step);
    text += format("0 mark {} \"{}\" ns={} lane=\"python stacks\"\n", begin + 50 * ms, code, 50 * ms);
    text += format("0 runtime {} {} cudaLaunchKernel lane=main\n", begin + 79 * ms, begin + 80 * ms);
    text += format("0 compute {} {} a lane=s7\n", begin + 80 * ms, begin + 100 * ms);
    text += format("@link launch {} {}\n", 3 * step + 1, 3 * step + 2);
  }
  return text;
}

TEST(IdleFindings, TheLineOfPythonCodeThatKeepsTheHostFromLaunchingIsNamed) {
  const Report report = report_of(late_program("prepare train.py:8"));
  const Finding* const idle = found(report, "idle");
  ASSERT_NE(idle, nullptr);
  EXPECT_TRUE(holds(idle->evidence,
                    "; of the Python code outside of operators, train.py:8 (prepare) takes longest: 50.0 ms per step"))
      << idle->evidence;
}

/// Ranks on a CPU. In each step of 100 ms they compute for 20, sleep for 70 (which is sampled), and exchange for 10.
Report all_sleep() {
  constexpr std::int64_t ms = 1'000'000;
  std::string text = "@run clock=same_host clock_error=0\n@group dp 0,1\n";
  for (int rank = 0; rank < 2; ++rank) {
    text += format("@lane {0} main kind=thread number=1\n@lane {0} \"python stacks\" kind=thread number=2\n", rank);
    for (std::int64_t step = 0; step < 10; ++step) {
      const std::int64_t begin = step * 100 * ms;
      text += format("{} step {} {} step index={} lane=main\n", rank, begin, begin + 100 * ms, step);
      text += format("{} op {} {} aten::mm lane=main\n", rank, begin, begin + 20 * ms);
      text += format("{} mark {} \"nap train.py:8\" ns={} lane=\"python stacks\"\n", rank, begin + 80 * ms, 60 * ms);
      text +=
          format("{} comm {} {} allreduce group=dp seq={} lane=main\n", rank, begin + 90 * ms, begin + 100 * ms, step);
    }
  }
  return analyze(*run_of(text), {});
}

TEST(IdleFindings, WhereAllRanksSleepTheLineIsNamed) {
  const Report report = all_sleep();
  const Finding* const idle = found(report, "idle");
  ASSERT_NE(idle, nullptr);
  EXPECT_TRUE(holds(idle->evidence, "train.py:8 (nap) takes longest: 60.0 ms per step")) << idle->evidence;
  EXPECT_TRUE(holds(idle->cause, "train.py:8 (nap) takes longest: 60.0 ms per step")) << idle->cause;
  EXPECT_TRUE(holds(idle->advice, "Look at train.py:8 (nap) first")) << idle->advice;
}

TEST(IdleFindings, AdviceNamesOnlyTheFrameworkThatWasSeen) {
  const Report plain = report_of(program(50));
  EXPECT_EQ(found(plain, "idle")->advice,
            "The host launches work too late (--only ranks shows where). Use CUDA graphs, or use fewer, larger "
            "kernels.");
  const Report torch = report_of(program(50, "0 op 0 10000 aten::empty lane=main\n"));
  EXPECT_TRUE(holds(found(torch, "idle")->advice, "(--only ranks shows in which operators)"));
  EXPECT_TRUE(holds(found(torch, "idle")->advice, "torch.compile"));
}

TEST(IdleFindings, AllocationsCountWhileTheSystemWorksInThem) {
  const Report report = report_of(program(50));
  const Finding* const finding = found(report, "allocations");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title,
            "18 % of the time between the first and the last device work, the device is idle while the host allocates "
            "or frees memory");
  EXPECT_EQ(finding->evidence,
            "the device is idle for 45.0 µs per rank; the host spends 55.0 µs in 1 call of this kind, most of it in "
            "cudaMalloc (55.0 µs)");
  EXPECT_EQ(
      finding->advice,
      "Only 1 call of this kind was recorded, perhaps while the program was starting: record later steps, and see "
      "whether such calls recur.");
}

/// Six steps of 1 ms. The first kernel is launched `late` µs after the start of the step, the second one in time, but
/// it begins `queued` µs after the end of the first.
Report late_and_queued(int late, int queued) {
  std::string text;
  for (int step = 0; step < 6; ++step) {
    const int at = step * 1'000'000;
    text += format("0 step {} {} step index={} lane=main\n", at, at + 1'000'000, step);
    text += format("0 op {} {} aten::mm lane=main\n", at, at + late * 1000 + 2000);
    text += format("0 runtime {} {} cudaLaunchKernel lane=main\n", at + late * 1000, at + late * 1000 + 1000);
    text += format("0 runtime {} {} cudaLaunchKernel lane=main\n", at + late * 1000 + 1000, at + late * 1000 + 2000);
    text += format("0 compute {} {} a lane=s7\n", at + late * 1000, at + late * 1000 + 10'000);
    text += format("0 compute {} {} b lane=s7\n", at + (late + queued) * 1000 + 10'000, at + 1'000'000);
  }
  for (int step = 0; step < 6; ++step)
    text += format("@link launch {} {}\n@link launch {} {}\n", step * 6 + 2, step * 6 + 4, step * 6 + 3, step * 6 + 5);
  return report_of(text);
}

TEST(IdleFindings, AdviceAndSavingAreThoseOfTheLargestCause) {
  const Report report = late_and_queued(300, 200);
  const Finding* const idle = found(report, "idle");
  ASSERT_NE(idle, nullptr);
  EXPECT_EQ(idle->title, "50 % of the time, nothing runs");
  EXPECT_EQ(idle->evidence,
            "500 µs idle per step and rank: 300 µs because the host launched late, 200 µs before work that was queued "
            "in time but started late; longest within the largest part: the host was late in aten::mm, 300 µs");
  EXPECT_TRUE(holds(idle->advice, "The host launches work too late")) << idle->advice;
  EXPECT_TRUE(holds(idle->advice, "This applies to 300 µs of the 500 µs of idle time.")) << idle->advice;
  EXPECT_TRUE(holds(idle->advice, "In the 200 µs of idle time before work that was already queued, kernels may be"));
  EXPECT_EQ(idle->gain_ns_per_step, 300'000);
}

TEST(IdleFindings, TheLongestCauseIsOneOfTheLargestPart) {
  // The host is late in two operators; no single one of them takes as long as the queued work.
  std::string text;
  for (int step = 0; step < 6; ++step) {
    const int at = step * 1'000'000;
    text += format("0 step {} {} step index={} lane=main\n", at, at + 1'000'000, step);
    text += format("0 op {} {} aten::mm lane=main\n", at, at + 150'000);
    text += format("0 runtime {} {} cudaLaunchKernel lane=main\n", at + 149'000, at + 150'000);
    text += format("0 op {} {} aten::add lane=main\n", at + 160'000, at + 311'000);
    text += format("0 runtime {} {} cudaLaunchKernel lane=main\n", at + 309'000, at + 310'000);
    text += format("0 runtime {} {} cudaLaunchKernel lane=main\n", at + 310'000, at + 311'000);
    text += format("0 compute {} {} a lane=s7\n", at + 150'000, at + 160'000);
    text += format("0 compute {} {} b lane=s7\n", at + 310'000, at + 400'000);
    text += format("0 compute {} {} c lane=s7\n", at + 600'000, at + 1'000'000);
  }
  for (int step = 0; step < 6; ++step)
    for (const auto& [launch, kernel] : {std::pair{2, 6}, {4, 7}, {5, 8}})
      text += format("@link launch {} {}\n", step * 9 + launch, step * 9 + kernel);
  const Report report = report_of(text);
  const Finding* const idle = found(report, "idle");
  ASSERT_NE(idle, nullptr);
  EXPECT_TRUE(holds(idle->evidence, "because the host launched late, 200 µs before work that was queued"))
      << idle->evidence;
  EXPECT_TRUE(holds(idle->evidence, "longest within the largest part: the host was late in aten::")) << idle->evidence;
}

TEST(IdleFindings, WorkThatWasQueuedIsNotTheHostsFault) {
  const Report report = late_and_queued(100, 400);
  const Finding* const idle = found(report, "idle");
  ASSERT_NE(idle, nullptr);
  EXPECT_TRUE(holds(idle->advice, "Kernels may be missing from the trace")) << idle->advice;
  EXPECT_FALSE(holds(idle->advice, "The host launches")) << idle->advice;
  EXPECT_EQ(idle->gain_ns_per_step, 0);
  EXPECT_EQ(idle->why_no_gain, "it was not recorded why the queued work started late");
}

/// Ranks of six steps of 1 ms in which a kernel runs all the time, except for the beginning of one step.
Report all_late_in_step_3(int ranks) {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank)
    text += format("@lane {0} main kind=thread number=1\n@lane {0} s7 kind=stream number=7 device=0\n", rank);
  std::string links;
  for (int i = 0; i < ranks * 6; ++i) {
    const int rank = i / 6;
    const int at = i % 6 * 1000;
    const int late = i % 6 == 3 ? at + 700 + rank : at;
    text += format("{0} step {1}000 {2}000 step index={3} lane=main\n{0} op {1}000 {4}000 read_back lane=main\n", rank,
                   at, at + 1000, i % 6, late + 2);
    text += format("{0} runtime {1}000 {2}000 cudaLaunchKernel lane=main\n{0} compute {1}000 {3}000 a lane=s7\n", rank,
                   late, late + 1, at + 1000);
    links += format("@link launch {} {}\n", i * 4 + 2, i * 4 + 3);
  }
  return analyze(*run_of(text + links), {});
}

TEST(IdleFindings, AStepInWhichAllRanksStallIsSaid) {
  for (const int ranks : {2, 5}) {
    const Report report = all_late_in_step_3(ranks);
    const Finding* const idle = found(report, "idle");
    ASSERT_NE(idle, nullptr) << ranks;
    EXPECT_TRUE(holds(idle->evidence, ", 100 % of it in step 3 alone")) << idle->evidence;
  }
}

TEST(IdleFindings, StepsAreMarkedWithTheCallsOfTheProgram) {
  EXPECT_FALSE(report_of(program(50)).uses_pytorch);
  EXPECT_TRUE(report_of(program(50, "0 op 0 10000 aten::empty lane=main\n")).uses_pytorch);
  EXPECT_TRUE(
      report_of(program(50, "0 compute 1000000 1000001 \"void at::native::fill<int>(int)\" lane=s7\n")).uses_pytorch);
}

}  // namespace
}  // namespace rankscope::analyzer
