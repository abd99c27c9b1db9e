// What is told of a run while it is recorded.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QCoreApplication>
#include <QSignalSpy>
#include <fstream>

#include "gui/waiting.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/segment_writer.h"
#include "rankscope/gui/models/record/live_plot.h"
#include "rankscope/gui/models/record/live_preview.h"
#include "rankscope/gui/models/record/live_table.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using recording::LiveProcess;
using recording::LiveSplit;
using recording::LiveStep;
using recording::LiveView;

LiveStep step(std::int64_t index, nanoseconds begin, nanoseconds duration) {
  return {.index = index, .begin = HostTime{begin}, .duration = duration};
}

LiveProcess process_of(std::int32_t rank) {
  LiveProcess process;
  process.pid = 100 + rank;
  process.rank = rank;
  return process;
}

TEST(LivePreview, SumsUpTheLastSteps) {
  LiveProcess process = process_of(0);
  EXPECT_FALSE(summary_of(process).last);
  process.last = {step(0, 0ms, 10ms), step(1, 10ms, 30ms), step(2, 40ms, 20ms)};
  process.last[0].split = LiveSplit{.compute = 4ms, .other = 6ms};
  process.last[1].split = LiveSplit{.compute = 10ms, .communication = 20ms};
  const LiveSummary summary = summary_of(process);
  EXPECT_EQ(summary.last, 20ms);
  EXPECT_EQ(summary.median, 20ms);
  EXPECT_EQ(summary.split, (LiveSplit{.compute = 7ms, .communication = 10ms, .other = 3ms}));
}

TEST(LivePreview, SaysWhatItCannotTell) {
  LiveView view;
  EXPECT_EQ(note_of(view).toStdString(), "No process has reported anything yet.");
  view.processes.push_back(process_of(0));
  view.processes[0].events = 1;
  EXPECT_EQ(note_of(view).toStdString(), "No step has been marked yet (1 event).");
  view.processes[0].steps = 1;
  EXPECT_EQ(note_of(view).toStdString(), "");
  view.elsewhere = 2;
  view.behind_bytes = 2'500'000;
  EXPECT_EQ(note_of(view).toStdString(),
            "2 recorders on other hosts: the preview does not show events from those hosts. The preview still has "
            "2.5 MB to read.");
}

TEST(LivePlot, BothAxesGoFromNoughtToOne) {
  LiveView view;
  EXPECT_TRUE(step_plot(view).lines.empty());
  for (const std::int32_t rank : {0, 1}) view.processes.push_back(process_of(rank));
  view.processes[0].last = {step(0, 100ms, 10ms), step(1, 150ms, 40ms)};
  view.processes[1].last = {step(0, 200ms, 20ms)};
  view.processes[0].steps = 57;
  const LivePlot steps = step_plot(view);
  ASSERT_EQ(steps.lines.size(), 2U);
  EXPECT_EQ(steps.lines[0].name.toStdString(), "rank 0: 57");
  EXPECT_EQ(steps.lines[0].points, (std::vector<QPointF>{{0, 0.25}, {0.5, 1}}));
  EXPECT_EQ(steps.lines[1].points, (std::vector<QPointF>{{1, 0.5}}));
  EXPECT_EQ(steps.top.toStdString(), "40.000 ms");
  EXPECT_EQ(steps.span.toStdString(), "100.000 ms");
}

TEST(LivePlot, MemoryOfHostAndDeviceAreApart) {
  LiveView view;
  view.processes.push_back(process_of(0));
  view.processes[0].memory = {{"GPU 0 memory_used_bytes", {{HostTime{0ns}, 8e9}}},
                              {"allocated_bytes", {{HostTime{0ns}, 1e9}, {HostTime{1s}, 2e9}}},
                              {"rss_bytes", {{HostTime{0ns}, 5e6}}}};
  EXPECT_EQ(memory_plot(view, MemoryOf::host).top.toStdString(), "5.00 MB");
  const LivePlot device = memory_plot(view, MemoryOf::device);
  ASSERT_EQ(device.lines.size(), 1U);
  EXPECT_EQ(device.lines[0].points, (std::vector<QPointF>{{0, 0.5}, {1, 1}})) << "what the framework allocated";
  view.processes[0].memory.resize(1);
  EXPECT_TRUE(memory_plot(view, MemoryOf::host).lines.empty());
  EXPECT_EQ(memory_plot(view, MemoryOf::device).lines.size(), 1U);
}

TEST(LivePlot, BarsAddUp) {
  LiveView view;
  view.processes.push_back(process_of(3));
  view.processes[0].last = {step(0, 0ms, 10ms)};
  EXPECT_TRUE(split_bars(view).empty()) << "nothing is known of it yet";
  view.processes[0].last[0].split = LiveSplit{.compute = 5ms, .data = 2ms, .wait = 3ms};
  const auto bars = split_bars(view);
  ASSERT_EQ(bars.size(), 1U);
  EXPECT_EQ(bars[0].shares, (std::array<double, 6>{0.5, 0, 0, 0.2, 0.3, 0}));
}

/// A job that this test plays.
class PlayedJob : public ::testing::Test {
 protected:
  PlayedJob() {
    fs::create_directories(out());
    fs::create_directories(spool());
    std::ofstream{out() / ("host-1" + std::string{recording::spool_mark_suffix})} << spool().string() << '\n';
  }
  [[nodiscard]] fs::path out() const { return folder_ / "run.rankscope"; }
  [[nodiscard]] fs::path spool() const { return folder_ / "spool"; }
  [[nodiscard]] std::unique_ptr<recording::SegmentWriter> segment(std::int32_t rank) const {
    return *recording::SegmentWriter::create({.path = spool() / (std::to_string(rank) + recording::segment_suffix),
                                              .ring_kib = 64,
                                              .rank = rank,
                                              .rank_source = "RANK"});
  }

  testing::TemporaryFolder folder_;
};

TEST_F(PlayedJob, IsSeenWhileItRunsAndOnceMoreAtItsEnd) {
  LivePreview preview{10ms};
  LiveTable table{preview};
  const QAbstractItemModelTester tester{&table, QAbstractItemModelTester::FailureReportingMode::Fatal};
  preview.start(out());
  const auto writer = segment(0);
  const auto pen = writer->thread();
  const auto make_step = [&pen] {
    pen->push(SpanKind::step, "step");
    pen->pop();
  };
  const auto cell = [&table](int row, LiveTable::Column column) {
    return table.index(row, column).data().toString().toStdString();
  };
  make_step();
  pen->counter("rss_bytes", 5e6);
  ASSERT_TRUE(testing::comes_true([&] { return table.rowCount() == 1 && cell(0, LiveTable::steps) == "1"; }));
  EXPECT_EQ(cell(0, LiveTable::process), "rank 0");
  EXPECT_EQ(cell(0, LiveTable::host_memory), "5.00 MB");
  EXPECT_EQ(cell(0, LiveTable::lost), "");
  const auto second = segment(1);
  ASSERT_TRUE(testing::comes_true([&] { return table.rowCount() == 2; }));
  EXPECT_EQ(cell(1, LiveTable::steps), "0");
  make_step();
  fs::remove_all(spool());  // as the recorder does when it has gathered
  fs::remove_all(out());
  preview.finish();
  ASSERT_TRUE(testing::comes_true([&] { return cell(0, LiveTable::steps) == "2"; }));
  const QSignalSpy changed{&preview, &LivePreview::changed};
  make_step();
  QTest::qWait(50);
  EXPECT_EQ(changed.count(), 0) << "it was the last look";
  EXPECT_EQ(table.headerData(LiveTable::communication, Qt::Horizontal, Qt::DisplayRole).toString().toStdString(),
            "Communication");
}

TEST_F(PlayedJob, MayEndWhileSomebodyLooks) {
  const auto writer = segment(0);
  int told = 0;
  for (int i = 0; i < 5; ++i) {
    LivePreview preview{1ms};
    QObject::connect(&preview, &LivePreview::changed, [&told] { ++told; });
    preview.start(out());
    QTest::qWait(3);
  }
  const int before = told;
  QCoreApplication::processEvents();
  EXPECT_EQ(told, before) << "what was seen belongs to nobody any more";
  LivePreview later{1ms};
  later.start(out());
  EXPECT_TRUE(testing::comes_true([&] { return later.view()->processes.size() == 1; }))
      << "who looked before is in nobody's way";
}

}  // namespace
}  // namespace rankscope::gui
