// The window keeps the view of a recording beside it and opens with it.
#include <gmock/gmock.h>

#include <QComboBox>
#include <QDockWidget>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <filesystem>

#include "gui/waiting.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;

/// A recording of its own, since the view is written beside it.
struct Copied {
  testing::TemporaryFolder folder;
  fs::path recording = folder / "run.rankscope";
  fs::path view = folder / "run.rankscope-view";

  Copied() { fs::copy(RANKSCOPE_SAMPLES "/demo.rankscope", recording, fs::copy_options::recursive); }
};

struct Opened {
  Session session;
  MainWindow window{session};

  explicit Opened(const fs::path& recording, const fs::path& view = {}) {
    window.resize(1200, 800);
    window.show();
    if (!view.empty()) window.use_view_file(view);
    session.open({.paths = {recording}});
    EXPECT_TRUE(testing::comes_true([&] {
      const auto& facts = window.timeline().model().facts();
      return session.state() == LoadState::ready && facts != nullptr && facts->report_fits;
    }));
  }
  [[nodiscard]] TimelineView& timeline() { return window.timeline(); }
  [[nodiscard]] std::string banner() const {
    const auto* const banner = window.findChild<QLabel*>(QStringLiteral("banner"));
    return banner->isVisible() ? banner->text().toStdString() : std::string{};
  }
  void arrange() {
    session.toggle_pin(LaneId{1});
    session.select(SpanId{5});
    timeline().navigator().note("look here");
    timeline().set_colouring(Colouring::by_lateness);
    window.choose_ranks(QStringLiteral("0,2-3"));
    window.findChild<QDockWidget*>(QStringLiteral("search"))->hide();
    session.set_visible(
        {session.extent().begin + nanoseconds{1'000'000}, session.extent().begin + nanoseconds{9'000'000}});
  }
};

TEST(ViewKeeper, OpensARecordingAsItWasLeft) {
  const Copied copied;
  std::vector<LaneId> pinned;
  std::vector<TimeMark> marks;
  TimeRange visible;
  {
    Opened first{copied.recording};
    EXPECT_FALSE(fs::exists(copied.view));
    first.arrange();
    pinned = first.session.pinned();
    marks = first.timeline().navigator().marks();
    visible = first.session.visible();
    first.window.close();
  }
  ASSERT_TRUE(fs::exists(copied.view));
  Opened again{copied.recording};
  EXPECT_EQ(again.session.pinned(), pinned);
  EXPECT_EQ(again.timeline().navigator().marks(), marks);
  EXPECT_EQ(again.session.visible(), visible);
  EXPECT_EQ(again.session.filter().ranks, (std::vector{RankId{0}, RankId{2}, RankId{3}}));
  EXPECT_EQ(again.window.findChild<QLineEdit*>(QStringLiteral("ranks"))->text(), QStringLiteral("0,2-3"));
  EXPECT_EQ(again.timeline().colouring(), Colouring::by_lateness);
  EXPECT_EQ(again.window.findChild<QComboBox*>(QStringLiteral("colours"))->currentIndex(), 2);
  EXPECT_TRUE(again.window.findChild<QDockWidget*>(QStringLiteral("search"))->isHidden());
  EXPECT_FALSE(again.window.findChild<QDockWidget*>(QStringLiteral("findings"))->isHidden());
  EXPECT_EQ(again.banner(), "");
}

TEST(ViewKeeper, WritesNothingWhereThereIsNothingToKeep) {
  const Copied copied;
  Opened opened{copied.recording};
  opened.timeline().zoom(0.5);
  opened.window.close();
  EXPECT_FALSE(fs::exists(copied.view));
}

TEST(ViewKeeper, WritesAtOnceWhenAsked) {
  const Copied copied;
  Opened opened{copied.recording};
  Q_EMIT opened.timeline().viewSaveRequested();
  EXPECT_TRUE(fs::exists(copied.view));
}

TEST(ViewKeeper, KeepsTheViewBeforeAnotherRecordingIsOpened) {
  const Copied copied;
  Opened opened{copied.recording};
  opened.arrange();
  opened.session.open({.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}});
  EXPECT_TRUE(fs::exists(copied.view));
  EXPECT_TRUE(testing::becomes_ready(opened.session));
}

TEST(ViewKeeper, TakesAnotherFileWhenTold) {
  const Copied copied;
  {
    Opened first{copied.recording, copied.folder / "mine"};
    first.arrange();
    first.window.close();
  }
  EXPECT_TRUE(fs::exists(copied.folder / "mine"));
  EXPECT_FALSE(fs::exists(copied.view));
  Opened again{copied.recording, copied.folder / "mine"};
  EXPECT_EQ(again.session.pinned().size(), 1U);
}

TEST(ViewKeeper, OpensTheRecordingWhereTheFileIsBrokenAndLeavesThatAlone) {
  const Copied copied;
  std::ofstream{copied.view} << "{\"schema\": \"rankscope.view/7\"}";
  Opened opened{copied.recording};
  EXPECT_THAT(opened.banner(), ::testing::HasSubstr("run.rankscope-view was written by a newer rankscope"));
  EXPECT_EQ(opened.session.run()->ranks().size(), 4U);
  opened.arrange();
  Q_EMIT opened.timeline().viewSaveRequested();
  EXPECT_THAT(opened.banner(), ::testing::HasSubstr("is not overwritten; start the viewer with --session FILE"));
  opened.window.close();
  EXPECT_EQ(testing::read_file(copied.view), "{\"schema\": \"rankscope.view/7\"}");
}

TEST(ViewKeeper, AFolderOfTracesIsReadAsBeforeWithTheFileInIt) {
  const Copied copied;
  const fs::path traces = copied.folder / "traces";
  fs::create_directory(traces);
  std::ofstream{traces / "rank0.json"}
      << R"({"schemaVersion": 1, "traceEvents": [)"
         R"({"ph": "X", "cat": "cpu_op", "name": "mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]})";
  {
    Opened first{traces / "rank0.json"};
    Q_EMIT first.timeline().viewSaveRequested();
  }
  ASSERT_TRUE(fs::exists(traces / "rank0.json.rankscope-view"));
  const Opened folder{traces};
  EXPECT_EQ(folder.banner(), "");
}

TEST(ViewKeeper, NotesAreWrittenByKeys) {
  Opened opened{RANKSCOPE_SAMPLES "/demo.rankscope"};
  opened.session.select(SpanId{3});
  QTest::keyClick(&opened.timeline(), Qt::Key_M, Qt::ControlModifier);
  auto* const dialog = opened.window.findChild<QInputDialog*>(QStringLiteral("note"));
  ASSERT_NE(dialog, nullptr);
  dialog->setTextValue(QStringLiteral("here it waits"));
  dialog->accept();
  ASSERT_EQ(opened.timeline().navigator().marks().size(), 1U);
  EXPECT_EQ(opened.timeline().navigator().marks().front().note, "here it waits");
  EXPECT_TRUE(opened.timeline().navigator().marks().front().kept);
}

}  // namespace
}  // namespace rankscope::gui
