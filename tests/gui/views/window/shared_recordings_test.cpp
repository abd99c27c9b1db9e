// Every recording that others made, whole, cut and broken, in the window.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QAbstractItemView>
#include <QLabel>
#include <fstream>

#include "foreign/shared_data.h"
#include "gui/waiting.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;

struct OpenedWindow {
  Session session;
  MainWindow window{session};
  bool is_refused = false;

  explicit OpenedWindow(const fs::path& recording) {
    QObject::connect(&session, &Session::failed, &window, [this] { is_refused = true; });
    window.resize(1280, 800);
    window.show();
    session.open({.paths = {recording}});
    EXPECT_TRUE(QTest::qWaitFor([this] { return is_refused || is_painted(); }, 60'000)) << recording;
  }
  [[nodiscard]] bool is_painted() {
    const auto& facts = window.timeline().model().facts();
    return session.state() == LoadState::ready && facts != nullptr && facts->report_fits &&
           window.timeline().is_up_to_date();
  }
  [[nodiscard]] QString banner() const {
    const auto* const banner = window.findChild<QLabel*>(QStringLiteral("banner"));
    return banner->isVisible() ? banner->text() : QString{};
  }
};

/// Opening writes nothing beside the recordings of others, which may be kept where nothing can be written.
class SharedRecordings : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << testing::no_shared_data;
  }
};

TEST_P(SharedRecordings, AreShownWithAllTheirPanels) {
  OpenedWindow opened{testing::shared_data() / GetParam()};
  ASSERT_FALSE(opened.is_refused) << opened.banner().toStdString();
  EXPECT_FALSE(opened.window.timeline().model().tracks().tracks.empty());
  for (auto* const table : opened.window.findChildren<QAbstractItemView*>()) {
    if (table->model() == nullptr) continue;
    const QAbstractItemModelTester tester{table->model(), QAbstractItemModelTester::FailureReportingMode::Fatal};
    const int rows = std::min(20, table->model()->rowCount());
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < table->model()->columnCount(); ++column)
        for (const int role : {Qt::DisplayRole, Qt::ToolTipRole}) (void)table->model()->index(row, column).data(role);
  }
  const SpanId middle{static_cast<std::uint32_t>(opened.session.run()->spans().size() / 2)};
  opened.session.go_to(middle);
  opened.window.timeline().navigator().zoom_to_selection();
  EXPECT_TRUE(testing::comes_true([&] { return opened.is_painted(); }));
}

/// What is gone to is drawn where a click finds it again. Spans without length may hide behind one another.
TEST_P(SharedRecordings, HaveEachEventWhereItCanBeClicked) {
  OpenedWindow opened{testing::shared_data() / GetParam()};
  ASSERT_FALSE(opened.is_refused) << opened.banner().toStdString();
  TimelineView& timeline = opened.window.timeline();
  timeline.model().fold_all(false);
  const rankscope::Run& run = *opened.session.run();
  const lod::RunLod& lod = *timeline.model().facts()->lod;
  const auto count = static_cast<std::uint32_t>(run.spans().size());
  std::uint32_t clicked = 0;
  std::uint32_t too_deep = 0;
  for (std::uint32_t row = 0; row < count; row += std::max(1U, count / 200)) {
    const SpanId span{row};
    if (run.span(span).time.empty()) continue;
    opened.session.go_to(span);
    timeline.navigator().zoom_to_selection();
    const auto box = timeline.box_of(span);
    EXPECT_EQ(box.has_value(), lod.place_of(span).row < 64) << row;
    box ? ++clicked : ++too_deep;
    if (!box) continue;
    EXPECT_EQ(timeline.span_at(box->center()), span) << row << ": " << run.text(run.span(span).name);
  }
  EXPECT_GT(clicked, 19 * too_deep) << "less than 5 % is in rows that are not drawn";
}

/// Two thirds of it: shown with a line that says so, or refused in a sentence.
TEST_P(SharedRecordings, AreShownWithALineAboutItWhereTheyAreCut) {
  const fs::path whole = testing::shared_data() / GetParam();
  const testing::TemporaryFolder folder;
  const fs::path cut = folder / ("rank0" + fs::path{GetParam()}.filename().string());
  fs::copy_file(whole, cut);
  fs::permissions(cut, fs::perms::owner_all);
  fs::resize_file(cut, fs::file_size(cut) * 2 / 3);
  const OpenedWindow opened{cut};
  EXPECT_FALSE(opened.banner().isEmpty());
  EXPECT_EQ(opened.session.run() == nullptr, opened.is_refused);
}

INSTANTIATE_TEST_SUITE_P(Shared, SharedRecordings, ::testing::ValuesIn(testing::shared_recordings()),
                         [](const auto& test) { return testing::plain_name(test.param); });

TEST(BrokenRecordings, ARecordingThatIsCutIsShownWithALineAboutIt) {
  const testing::TemporaryFolder folder;
  fs::copy(RANKSCOPE_SAMPLES "/demo.rankscope", folder / "run.rankscope", fs::copy_options::recursive);
  fs::path largest;
  for (const auto& entry : fs::recursive_directory_iterator{folder / "run.rankscope"})
    if (entry.is_regular_file() && (largest.empty() || entry.file_size() > fs::file_size(largest)))
      largest = entry.path();
  fs::resize_file(largest, fs::file_size(largest) / 2);
  const OpenedWindow opened{folder / "run.rankscope"};
  EXPECT_FALSE(opened.is_refused);
  EXPECT_TRUE(opened.banner().contains(QStringLiteral("This recording is incomplete")))
      << opened.banner().toStdString();
}

TEST(BrokenRecordings, WhatIsNoneIsRefusedInASentenceThatNamesIt) {
  const testing::TemporaryFolder folder;
  std::ofstream{folder / "noise.json"} << std::string(5000, '\x01');
  std::ofstream{folder / "empty.sqlite"} << "";
  fs::create_directory(folder / "hollow.rankscope");
  for (const char* const name : {"noise.json", "empty.sqlite", "hollow.rankscope", "absent.rankscope"}) {
    const OpenedWindow opened{folder / name};
    EXPECT_TRUE(opened.is_refused) << name;
    EXPECT_TRUE(opened.banner().contains(QString::fromLatin1(name))) << opened.banner().toStdString();
  }
}

}  // namespace
}  // namespace rankscope::gui
