// HTA's numbers where it is wrong, and the right ones beside them (metrics.md 19).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "hta/find.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Two ranks read from Kineto files of whole µs, with one stream each.
constexpr std::string_view head =
    "@run source=kineto world_size=2 clock=same_host clock_error=1000\n"
    "@rank 0 meta.file_time_offset_ns=0 meta.file_time_type=integer\n"
    "@lane 0 main kind=thread number=1\n"
    "@lane 0 s7 kind=stream number=7 device=0\n";
constexpr std::string_view second_rank =
    "@rank 1 meta.file_time_offset_ns=0 meta.file_time_type=integer\n"
    "@lane 1 main kind=thread number=1\n"
    "@lane 1 s7 kind=stream number=7 device=0\n";

Report report_of(std::string_view text, HtaLastStep last_step = HtaLastStep::dropped) {
  ReportOptions options;
  options.hta = last_step;
  return analyze(*testing::run_of(text), options);
}

Report report_behind_head(std::string_view events, HtaLastStep last_step = HtaLastStep::dropped) {
  return report_of(std::string{head} + std::string{events}, last_step);
}

const HtaRank& hta_rank(const Report& report) { return report.hta.value()->ranks.at(0); }
const TimeSplit& own_split(const Report& report) { return report.rank_rows->at(0).total; }

TEST(Hta, ASynchronizationWithAStreamIsBusyToHtaAndIdleToUs) {
  const Report report = report_behind_head(
      "0 compute     0 10000 gemm lane=s7 correlation=1\n"
      "0 sync    10000 30000 \"Stream Sync\" lane=s7 correlation=2\n"
      "0 compute 30000 40000 gemm lane=s7 correlation=3\n");
  EXPECT_EQ(hta_rank(report).times->idle_ns, 0);
  EXPECT_EQ(hta_rank(report).times->non_compute_ns, 20'000);
  EXPECT_EQ(own_split(report).idle_ns, 20'000);
  EXPECT_EQ(own_split(report).compute_ns, 20'000);
}

TEST(Hta, ThePageHasTheSameTablesAsTheText) {
  const auto run = testing::run_of(std::string{head} +
                                   "0 runtime 0 5000 cudaLaunchKernel lane=main correlation=1\n"
                                   "0 compute 10000 20000 gemm lane=s7 correlation=1\n"
                                   "0 compute 30000 40000 " +
                                   std::string(5'000, 'k') + " lane=s7 correlation=2\n");
  ReportOptions options;
  options.hta = HtaLastStep::dropped;
  const std::string page = render_html(analyze(*run, options), *run, options);
  EXPECT_THAT(page, HasSubstr("<section id=\"hta\""));
  for (const char* const title : {"Time of each rank", "Launches", "What ran", "Kernels", "Idle time of streams"})
    EXPECT_THAT(page, HasSubstr(format("<caption>HTA: {}</caption>", title)));
  EXPECT_THAT(page, HasSubstr(std::string(50, 'k') + "…" + std::string(49, 'k') + "<")) << "a name of a template";
  EXPECT_THAT(page, HasSubstr("HTA decides by name: a kernel whose name contains Sync"));
  EXPECT_THAT(render_html(analyze(*run, {}), *run, {}), Not(HasSubstr("id=\"hta\"")));
}

TEST(Hta, OfManyKernelsHtaTakesTheLongestSumForTheLongestKernel) {
  std::string events;
  for (int i = 0; i < 11; ++i)
    for (const int begin : {0, 500'000})
      events +=
          format("0 compute {} {} k{} lane=s7 correlation=1\n", begin + i * 10'000, begin + i * 10'000 + 5'000, i);
  const Report report = report_behind_head(events);
  const HtaKernel& others = hta_rank(report).kernels.back();
  EXPECT_EQ(others.name, "others");
  EXPECT_EQ(others.hta.max_ns, 10'000) << "of the sums";
  EXPECT_EQ(others.own.max_ns, 5'000) << "no kernel was longer";
  EXPECT_EQ(others.own.mean_ns, 5'000);
  EXPECT_EQ(others.own.stddev_ns, 0);
  const HtaKernel& first = hta_rank(report).kernels.front();
  EXPECT_EQ(first.hta.mean_ns, 10'000) << "one that stays is hit, too";
  EXPECT_EQ(first.own.mean_ns, 5'000);
  EXPECT_EQ(first.own_count, 2);
}

TEST(Hta, UpToTenKernelsKeepTheirStatistics) {
  const Report report = report_behind_head(
      "0 compute    0  1000 k lane=s7 correlation=1\n"
      "0 compute 2000  5000 k lane=s7 correlation=2\n");
  const HtaKernel& kernel = hta_rank(report).kernels.at(0);
  EXPECT_EQ(kernel.hta.max_ns, 3'000);
  EXPECT_EQ(kernel.hta.min_ns, 1'000);
  EXPECT_EQ(kernel.hta.mean_ns, 2'000);
  EXPECT_NEAR(kernel.hta.stddev_ns, 1414.2, 0.1);
}

TEST(Hta, OverlappingKernelsOfAStreamGiveHtaNegativeGaps) {
  const Report report = report_behind_head(
      "0 compute      0 100000 long lane=s7 correlation=1\n"
      "0 compute  10000  20000 inside lane=s7 correlation=2\n"
      "0 compute 110000 120000 next lane=s7 correlation=3\n");
  const HtaStreamIdle& idle = hta_rank(report).idle.at(0);
  EXPECT_EQ(idle.causes_ns[static_cast<std::size_t>(HtaIdleCause::kernel_wait)], -90'000);
  EXPECT_EQ(idle.causes_ns[static_cast<std::size_t>(HtaIdleCause::other)], 90'000);
  EXPECT_EQ(idle.own_idle_ns, 10'000);
  EXPECT_EQ(own_split(report).idle_ns, 10'000);
}

TEST(Hta, AGapOf20MicrosecondsIsBelowHtasLimitOf30Nanoseconds) {
  const Report report = report_behind_head(
      "0 compute     0 10000 gemm lane=s7 correlation=1\n"
      "0 compute 30000 40000 gemm lane=s7 correlation=2\n");
  EXPECT_EQ(hta_rank(report).idle.at(0).causes_ns[static_cast<std::size_t>(HtaIdleCause::kernel_wait)], 20'000);
  EXPECT_EQ(own_split(report).idle_ns_of(IdleCause::kernel_gap), 0);
  EXPECT_EQ(own_split(report).idle_ns_of(IdleCause::other), 20'000);
}

TEST(Hta, ALateLaunchIsHostWait) {
  const Report report = report_behind_head(
      "0 runtime 25000 27000 cudaLaunchKernel lane=main correlation=2\n"
      "0 compute     0 10000 gemm lane=s7 correlation=1\n"
      "0 compute 30000 40000 gemm lane=s7 correlation=2\n"
      "@link launch 0 2\n");
  EXPECT_EQ(hta_rank(report).idle.at(0).causes_ns[static_cast<std::size_t>(HtaIdleCause::host_wait)], 20'000);
  EXPECT_EQ(own_split(report).idle_ns, 20'000);
}

TEST(Hta, TheMeanQueueIsOverChangesNotOverTime) {
  const Report report = report_behind_head(
      "0 runtime       0    1000 cudaLaunchKernel lane=main correlation=1\n"
      "0 runtime    1000    2000 cudaLaunchKernel lane=main correlation=2\n"
      "0 compute 1000000 1000500 gemm lane=s7 correlation=1\n"
      "0 compute 1001000 1001500 gemm lane=s7 correlation=2\n");
  const HtaQueue& queue = hta_rank(report).queues.at(0);
  EXPECT_EQ(queue.points, 4);
  EXPECT_EQ(queue.max, 2);
  EXPECT_DOUBLE_EQ(queue.mean, 1.0) << "1, 2, 1, 0";
  EXPECT_NEAR(queue.own_mean.value.value(), 2000.0 / 1001.0, 1e-9) << "two were waiting nearly all the time";
}

TEST(Hta, TheLastStepIsDroppedAndWorkOfTwoCallsIsDoubled) {
  const std::string_view events =
      "0 step         0 100000 ProfilerStep#1 lane=main index=1\n"
      "0 step    100000 200000 ProfilerStep#2 lane=main index=2\n"
      "0 runtime  10000  20000 cuLaunchKernel lane=main correlation=1\n"
      "0 runtime  11000  19000 cudaLaunchKernel lane=main correlation=1\n"
      "0 compute  20000  50000 gemm lane=s7 correlation=1\n"
      "0 runtime 110000 120000 cudaLaunchKernel lane=main correlation=2\n"
      "0 compute 120000 160000 gemm lane=s7 correlation=2\n"
      "@link launch 2 4\n@link launch 5 6\n";
  const Report report = report_behind_head(events);
  const HtaRank& rank = hta_rank(report);
  EXPECT_EQ(rank.rows, 5) << "a step, two calls, twice the kernel";
  EXPECT_EQ(rank.dropped_rows, 3) << "the last step, its call and its kernel";
  EXPECT_EQ(rank.doubled_rows, 1);
  EXPECT_EQ(rank.kernels.at(0).sum_ns, 60'000);
  EXPECT_EQ(rank.kernels.at(0).own_count, 1);
  EXPECT_EQ(own_split(report).compute_ns, 70'000) << "both steps, each kernel once";

  const Report kept = report_behind_head(events, HtaLastStep::kept);
  EXPECT_EQ(hta_rank(kept).dropped_rows, 0);
  EXPECT_EQ(hta_rank(kept).times->compute_ns, 70'000);
}

TEST(Hta, WithASingleStepNothingIsDropped) {
  const Report report = report_behind_head(
      "0 step         0 100000 ProfilerStep#1 lane=main index=1\n"
      "0 compute  20000  50000 gemm lane=s7 correlation=1\n");
  EXPECT_EQ(hta_rank(report).rows, 2);
  EXPECT_EQ(hta_rank(report).dropped_rows, 0);
}

TEST(Hta, FractionsOfAMicrosecondAreRoundedAwayByHtaOnly) {
  const Report report = report_of(
      "@run source=kineto\n@rank 0 meta.file_time_offset_ns=1000 meta.file_time_type=float\n"
      "@lane 0 s7 kind=stream number=7 device=0\n"
      "0 compute    0  2500 gemm lane=s7 correlation=1\n"
      "0 compute 3200  3800 small lane=s7 correlation=2\n");
  const HtaRank& rank = hta_rank(report);
  EXPECT_EQ(rank.times->compute_ns, 1'000) << "2 µs, and -1 µs from 5 back to 4";
  EXPECT_EQ(rank.kernels.back().sum_ns, -1'000);
  EXPECT_EQ(rank.kernels.back().own.max_ns, 600);
  EXPECT_EQ(own_split(report).compute_ns, 3'100);
}

std::string all_reduces(std::string_view name) {
  std::string text = std::string{head} + std::string{second_rank} + "@group dp 0,1\n";
  for (int rank = 0; rank < 2; ++rank)
    for (int step = 1; step < 4; ++step) {
      const int at = step * 100'000;
      const int begin = at + 20'000 + rank * 30'000;
      text += format("{} step {} {} ProfilerStep#{} lane=main index={}\n", rank, at, at + 100'000, step, step);
      text += format("{} runtime {} {} cudaLaunchKernel lane=main correlation={}\n", rank, at + 1000, at + 2000, step);
      text += format("{} comm {} {} {} lane=s7 group=dp op=allreduce seq={} correlation={}\n", rank, begin, at + 90'000,
                     name, step, step);
    }
  return text;
}

TEST(Hta, WhoIsLastIsFoundUnderNcclsOldNamesOnly) {
  const Report old = report_of(all_reduces("ncclKernel_AllReduce"), HtaLastStep::kept);
  ASSERT_TRUE(old.hta.value()->stragglers) << old.hta.value()->stragglers.error().why;
  EXPECT_EQ(old.hta.value()->stragglers->votes.at(1).steps, 3);

  const Report now = report_of(all_reduces("ncclDevKernel_AllReduce"), HtaLastStep::kept);
  EXPECT_FALSE(now.hta.value()->stragglers);
  ASSERT_TRUE(now.collectives);
  for (const Operation& operation : now.collectives->operations)
    EXPECT_EQ(operation.last_rank, RankId{1}) << "rankscope needs no name";
}

TEST(Hta, ANameDecidesTheClass) {
  EXPECT_EQ(hta_name_from("ncclDevKernel_AllReduce").kind, HtaClass::communication);
  EXPECT_EQ(hta_name_from("void ncclKernel_SendRecv").kind, HtaClass::communication);
  EXPECT_EQ(hta_name_from("hipMemcpyAsync").kind, HtaClass::communication) << "HTA's fault";
  EXPECT_EQ(hta_name_from("Memcpy HtoD (Pinned -> Device)").kind, HtaClass::memory);
  EXPECT_EQ(hta_name_from("my_Memcpy_kernel").kind, HtaClass::other);
  EXPECT_EQ(hta_name_from("Stream Sync").kind, HtaClass::other);
  EXPECT_EQ(hta_name_from("cudaGraph_LaunchKernel").kind, HtaClass::other);
  EXPECT_EQ(hta_name_from("gemm").kind, HtaClass::computation);
}

TEST(Hta, IsShownOnlyIfAskedFor) {
  const auto run = testing::run_of(std::string{head} + "0 compute 0 10000 gemm lane=s7 correlation=1\n");
  const Report plain = analyze(*run, {});
  EXPECT_FALSE(plain.hta);
  EXPECT_THAT(render_json(plain, *run, {}), Not(HasSubstr("hta_compat")));
  EXPECT_THAT(render_text(plain, *run, {}, Colour::no), Not(HasSubstr("HTA")));

  ReportOptions options;
  options.hta = HtaLastStep::dropped;
  const Report asked = analyze(*run, options);
  EXPECT_THAT(render_json(asked, *run, options), HasSubstr("\"kernel_us\": 10"));
  EXPECT_THAT(render_text(asked, *run, options, Colour::no),
              HasSubstr("These numbers follow HTA's formulas: times are rounded to whole µs"));
}

TEST(Hta, OtherSourcesAndUnknownFileTimesAreRefused) {
  const Report other = report_of("@run source=rankscope\n0 step 0 10 step index=0\n");
  EXPECT_EQ(other.hta.value().error().why, "HTA reads Kineto traces only; this recording was made by rankscope");
  const Report unknown = report_of("@run source=kineto\n0 compute 0 10 gemm\n");
  EXPECT_THAT(unknown.hta.value().error().why, HasSubstr("the original times in the file of rank 0"));
}

}  // namespace
}  // namespace rankscope::analyzer
