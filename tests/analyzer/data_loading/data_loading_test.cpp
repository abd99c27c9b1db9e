#include "data_loading/parts.h"

#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

/// Steps of 100 ns; the training thread waits for data in the first 40 of each.
std::string waiting_steps(std::string_view name = "data") {
  std::string text =
      "@lane 0 main kind=thread number=1\n@lane 0 l0 kind=thread number=2\n@lane 0 l1 kind=thread number=3\n";
  for (int step = 0; step < 10; ++step)
    text += format("0 step {} {} step index={} lane=main\n0 data {} {} {} lane=main\n", step * 100, step * 100 + 99,
                   step, step * 100, step * 100 + 40, name);
  return text + "0 step 1000 1001 step index=10 lane=main\n";
}

std::string load(int begin, int end, std::string_view lane) {
  return format("0 loader {} {} load lane={}\n", begin, end, lane);
}

DataLoadingRow row_of(const std::string& text) {
  const auto run = run_of(text);
  const Report report = analyze(*run, {});
  return report.data_loading.value().rows.at(0);
}

void expect_adds_up(const DataLoadingRow& row) {
  EXPECT_EQ(row.all_busy_ns + row.some_busy_ns + row.none_busy_ns, row.waiting_ns);
}

TEST(DataLoading, WorkersThatAreAllBusyWhileTheLoopWaitsAreTooFew) {
  std::string text = waiting_steps();
  for (int step = 0; step < 10; ++step)
    text += load(step * 100, step * 100 + 95, "l0") + load(step * 100, step * 100 + 95, "l1");
  const DataLoadingRow row = row_of(text);
  EXPECT_EQ(row.kind, LoaderWorkers::recorded);
  EXPECT_EQ(row.workers, 2);
  EXPECT_EQ(row.waits, 10);
  EXPECT_EQ(row.waiting_ns, 400);
  EXPECT_EQ(row.all_busy_ns, 400);
  EXPECT_EQ(row.batches, 20);
  EXPECT_EQ(row.batches_ns, 20 * 95);
  EXPECT_EQ(workers_needed(row), 2) << "a batch of 95 ns for every 60 ns of other work";
  expect_adds_up(row);
}

TEST(DataLoading, WaitingTimeIsSharedOutByHowManyWorkersLoad) {
  std::string text = waiting_steps();
  for (int step = 0; step < 10; ++step)
    text += load(step * 100, step * 100 + 30, "l0") + load(step * 100 + 10, step * 100 + 20, "l1");
  const DataLoadingRow row = row_of(text);
  EXPECT_EQ(row.all_busy_ns, 100);
  EXPECT_EQ(row.some_busy_ns, 200);
  EXPECT_EQ(row.none_busy_ns, 100);
  EXPECT_EQ(row.work_ns, 400);
  expect_adds_up(row);
}

TEST(DataLoading, BatchesThatAreReadyAheadAreCounted) {
  std::string text = waiting_steps();
  for (int step = 0; step < 9; ++step) text += load(step * 100 + 45, step * 100 + 95, "l0");
  const DataLoadingRow row = row_of(text);
  ASSERT_TRUE(row.ready_ahead.has_value());
  EXPECT_DOUBLE_EQ(*row.ready_ahead, 1) << "the first was loaded before the recording began";
  EXPECT_EQ(row.none_busy_ns, row.waiting_ns) << "the loop waits though a batch is ready";
}

TEST(DataLoading, WorkersThatWereNotRecordedAreUnknownAndNotIdle) {
  const DataLoadingRow row = row_of(waiting_steps("\"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__\""));
  EXPECT_EQ(row.kind, LoaderWorkers::not_in_recording);
  EXPECT_EQ(row.waiting_ns, 400);
  EXPECT_FALSE(row.why_unknown.empty());
  EXPECT_FALSE(workers_needed(row).has_value());
}

TEST(DataLoading, ALoaderWithoutWorkersIsTold) {
  const DataLoadingRow row = row_of(waiting_steps("\"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\""));
  EXPECT_EQ(row.kind, LoaderWorkers::none);
}

TEST(DataLoading, TheAdviceFitsWhatTheWorkersDid) {
  LoaderSums sums{.waiting_ns = 100, .all_busy_ns = 90, .some_busy_ns = 10, .workers = 2, .needed = 5};
  EXPECT_NE(advice_for_data(sums).find("about 5 would keep up"), std::string::npos);
  sums = {.waiting_ns = 100, .none_busy_ns = 100, .workers = 2};
  EXPECT_NE(advice_for_data(sums).find("were idle while"), std::string::npos);
  sums = {.own_thread = true};
  EXPECT_NE(advice_for_data(sums).find("num_workers"), std::string::npos);
  EXPECT_NE(advice_for_data({}).find("were not recorded"), std::string::npos);
}

TEST(DataLoading, NothingRecordedIsSaid) { EXPECT_FALSE(analyze(*run_of("0 op 0 10 aten::mm\n"), {}).data_loading); }

}  // namespace
}  // namespace rankscope::analyzer
