#include "predicted/parts.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "support/temporary_folder.h"
#include "synthetic/segment_image.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

/// Ten steps of 100 ns of one rank, with an all-reduce of `sent` bytes and a sample of `held` bytes in each.
std::string steps_with(const std::string& sent, std::int64_t held) {
  std::string text = "@lane 0 main kind=thread number=1\n@lane 0 comm kind=comm number=2\n@group dp 0,1\n";
  for (int step = 0; step < 10; ++step) {
    const int begin = step * 100;
    text += format("0 step {} {} step index={} lane=main\n", begin, begin + 99, step);
    text +=
        format("0 comm {} {} allreduce lane=comm group=dp enqueued={} {}\n", begin + 20, begin + 40, begin + 10, sent);
    text += format("0 counter {} {} allocated_bytes\n", begin + 50, 2 * held);
    text += format("0 counter {} {} allocated_bytes\n", begin + 99, held);
  }
  return text + "0 step 1000 1001 step index=10 lane=main\n";
}

const std::string predicted = "@rank 0 meta.predicted_held_bytes=1000 meta.predicted_sent_bytes=400\n";

Report report_on(const std::string& text) { return analyze(*run_of(text), {}); }

TEST(Predicted, WhatIsHeldIsTheLastSampleOfAStepAndWhatIsSentItsOperations) {
  const Report report = report_on(predicted + steps_with("bytes=400", 1010));
  ASSERT_TRUE(report.predicted) << report.predicted.error().why;
  const PredictedRow& row = report.predicted->rows.at(0);
  EXPECT_EQ(row.held->measured_bytes, 1010);
  EXPECT_DOUBLE_EQ(*row.held->off(), 0.01);
  EXPECT_EQ(row.sent->measured_bytes, 400);
  EXPECT_EQ(row.sent->off(), 0);
}

/// Ten steps in which a thread announces an all-reduce of 400 bytes and NCCL tells of it, too.
synthetic::ProcessImage told_twice(std::int32_t rank) {
  synthetic::ProcessImage process{.rank = rank, .world_size = 2, .local_rank = rank, .host = "a", .end_ns = 11'000'000};
  process.clock.boot_ns = 1'000'000'000;
  synthetic::ThreadImage& thread = process.threads.emplace_back(100 + rank, process.clock);
  thread.metadata("predicted_sent_bytes", "400");
  thread.communicator("communicator 0xab", 2, rank);
  for (std::int64_t step = 0; step < 11; ++step) {
    const std::int64_t at = step * 1'000'000;
    thread.push(SpanKind::step, "step", at);
    thread.attribute("index", step);
    const auto uid = static_cast<std::uint64_t>(step) + 1;
    thread.enqueued({.uid = uid, .sequence = step, .bytes = 400, .group = "dp", .op = "allreduce", .members = "0,1"},
                    at + 100'000);
    thread.kernel({.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                   .launched = at + 120'000,
                   .begin = at + 200'000,
                   .end = at + 600'000,
                   .correlation = static_cast<std::uint32_t>(uid)});
    thread.enqueued({.uid = 100 + uid,
                     .sequence = step,
                     .bytes = 400,
                     .group = "communicator 0xab",
                     .op = "allreduce",
                     .members = "",
                     .peer = 0},
                    at + 150'000);
    thread.pop(at + 999'000);
  }
  return process;
}

TEST(Predicted, WhatBothTheProgramAndNcclToldOfIsMeasuredOnce) {
  const rankscope::testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder / recording::segment_folder);
  for (const std::int32_t rank : {0, 1})
    synthetic::write_segment(told_twice(rank), folder / recording::segment_folder / format("{}.rseg", rank));
  const auto run = recording::read_recording(folder.path());
  ASSERT_TRUE(run) << run.error().message;
  const Report report = analyze(**run, {});
  ASSERT_TRUE(report.predicted) << report.predicted.error().why;
  for (const PredictedRow& row : report.predicted->rows) EXPECT_EQ(row.sent->measured_bytes, 400);
  ASSERT_TRUE(report.collectives) << report.collectives.error().why;
  EXPECT_EQ(report.collectives->matched, 22);
  EXPECT_EQ(report.collectives->unmatched, 0);
  ASSERT_EQ(report.collectives->groups.size(), 1U);
  EXPECT_EQ(report.collectives->groups[0].count, 11);
  EXPECT_EQ(report.collectives->groups[0].bytes, 11 * 400);
}

TEST(Predicted, StandsInItsSectionOnlyNotAmongTheFactsOfTheRun) {
  for (const auto& [key, value] : report_on(predicted + steps_with("bytes=400", 1000)).facts)
    EXPECT_EQ(key.find("predicted"), std::string::npos) << key;
}

TEST(Predicted, WhatWasNotRecordedHasAReason) {
  const PredictedRow row = report_on(predicted + steps_with("", 1000)).predicted.value().rows.at(0);
  EXPECT_EQ(row.sent->measured_bytes, std::nullopt);
  EXPECT_EQ(row.sent->why_not_measured, "the sizes of some operations were not recorded");
  EXPECT_EQ(row.sent->off(), std::nullopt);
}

TEST(Predicted, WithoutAPredictionThereIsNoSectionAndNobodyMissesIt) {
  const Report report = report_on(steps_with("bytes=400", 1000));
  ASSERT_FALSE(report.predicted);
  EXPECT_EQ(report.predicted.error().why, no_prediction);
  EXPECT_EQ(report.predicted.error().missed, Missed::no);
}

TEST(Predicted, ADamagedNumberPredictsNothing) {
  EXPECT_FALSE(
      report_on("@rank 0 meta.predicted_held_bytes=-5 meta.predicted_sent_bytes=12x\n" + steps_with("bytes=400", 10))
          .predicted);
}

}  // namespace
}  // namespace rankscope::analyzer
