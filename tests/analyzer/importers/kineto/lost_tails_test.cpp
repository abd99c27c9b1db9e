// Files that are whole although the profiler lost the end of what their rank did.
#include <gtest/gtest.h>

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "trace_text.h"

namespace rankscope {
namespace {

using testing::complete;
using testing::on_stream;
using testing::op;

/// Ten steps of 10 ms with an operator and a kernel each; work that begins later than `until_us` is not there.
std::string rank_until(int rank, int host_until_us, int device_until_us, int frame_end_us = 100'000) {
  std::string events =
      complete("Trace", "PyTorch Profiler (0)",
               R"("pid": "Spans", "tid": "PyTorch Profiler", "ts": 0, "dur": )" + std::to_string(frame_end_us));
  for (int step = 0; step < 10; ++step) {
    const int begin = step * 10'000;
    events += "," + complete("user_annotation", "ProfilerStep#" + std::to_string(step),
                             R"("pid": 7, "tid": 7, "dur": 10000, "ts": )" + std::to_string(begin));
    const std::string number = std::to_string(step + 1);
    if (begin < host_until_us)
      events += "," + op("aten::mm", begin + 10, 9'000) + "," +
                complete("cuda_runtime", "cudaLaunchKernel",
                         R"("pid": 7, "tid": 7, "dur": 5, "args": {"correlation": )" + number + R"(}, "ts": )" +
                             std::to_string(begin + 20));
    if (begin < device_until_us)
      events += "," + on_stream("kernel", "gemm", begin + 100, 9'000, R"({"correlation": )" + number + "}");
  }
  return R"({"baseTimeNanoseconds": 1700000000000000000, "distributedInfo": {"rank": )" + std::to_string(rank) +
         R"(, "world_size": 3}, "traceEvents": [)" + events + "]}";
}

std::shared_ptr<const Run> with_rank_2(const std::string& last) {
  const testing::TraceFolder folder;
  folder.write("rank0.json", rank_until(0, 100'000, 100'000));
  folder.write("rank1.json", rank_until(1, 100'000, 100'000));
  folder.write("rank2.json", last);
  auto run = folder.open();
  EXPECT_TRUE(run) << run.error().message;
  return *run;
}

std::size_t cut_steps(const Run& run) {
  return static_cast<std::size_t>(std::ranges::count_if(run.spans(), [](const Span& span) {
    return span.kind == SpanKind::step && (span.flags & span_flag::cut_end) != 0;
  }));
}

TEST(KinetoLostTails, OfAllEventsAreCountedAndTheStepsAreCut) {
  const auto run = with_rank_2(rank_until(2, 70'000, 70'000));
  EXPECT_EQ(run->quality().of(Counter::tails_lost), 1U);
  ASSERT_EQ(run->info().places.size(), 1U);
  EXPECT_EQ(run->info().places.front().where, "rank2.json");
  EXPECT_EQ(run->info().places.front().rank, RankId{2});
  ASSERT_TRUE(run->info().places.front().time);
  EXPECT_EQ(run->info().places.front().time->end, RunTime::max()) << "until the end, whenever that was";
  EXPECT_EQ(cut_steps(*run), 4U) << "the step in which the last kernel ends, and three without anything";
}

TEST(KinetoLostTails, OfTheDeviceAloneAreToldByLaunchesWithoutWork) {
  const auto run = with_rank_2(rank_until(2, 100'000, 50'000));
  EXPECT_EQ(run->quality().of(Counter::tails_lost), 1U);
  EXPECT_EQ(cut_steps(*run), 6U);
}

TEST(KinetoLostTails, AreNoneWhereTheProfilerWasStoppedEarlier) {
  EXPECT_EQ(with_rank_2(rank_until(2, 70'000, 70'000, 70'000))->quality().of(Counter::tails_lost), 0U);
}

TEST(KinetoLostTails, AreNoneWhereAllEndTogether) {
  const auto run = with_rank_2(rank_until(2, 100'000, 100'000));
  EXPECT_EQ(run->quality().of(Counter::tails_lost), 0U);
  EXPECT_EQ(cut_steps(*run), 0U);
}

TEST(KinetoLostTails, AreLeftOutOfTheSteps) {
  const auto run = with_rank_2(rank_until(2, 70'000, 70'000));
  const analyzer::Report report = analyzer::analyze(*run, {});
  ASSERT_TRUE(report.steps);
  EXPECT_TRUE(report.steps->counted(5));
  for (int step = 6; step < 10; ++step) EXPECT_FALSE(report.steps->counted(step)) << step;
}

}  // namespace
}  // namespace rankscope
