// What the window says of the run that it shows.
#include <gtest/gtest.h>

#include <QAction>
#include <QFileDialog>
#include <QPointer>
#include <QScreen>
#include <QTableView>
#include <QToolButton>
#include <algorithm>

#include "base/shades.h"
#include "gui/waiting.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"

namespace rankscope::gui {
namespace {

struct ShownWindow {
  Session session;
  MainWindow window{session};

  explicit ShownWindow(const char* text) {
    window.show();
    session.show(*run_from_text(text));
    EXPECT_TRUE(testing::becomes_ready(session));
  }
  [[nodiscard]] QString banner() const {
    const auto* const banner = window.findChild<QLabel*>(QStringLiteral("banner"));
    return banner->isVisible() ? banner->text() : QString{};
  }
};

TEST(MainWindow, SaysWhatIsMissingAsLongAsTheRunIsShown) {
  ShownWindow shown{"@quality events_dropped 7\n0 compute 0 100 gemm\n"};
  const QString missing = QStringLiteral(
      "This recording is incomplete. Events dropped: 7. Events were lost because the ring buffer was full; where they "
      "are missing, idle time is overstated. Record with a larger --ring-kib or fewer sources in --collect.");
  EXPECT_EQ(shown.banner(), missing);
  for (const char* const name : {"no/such/run", "no/other/run"}) {
    shown.session.open({.paths = {name}});
    EXPECT_EQ(shown.banner(), missing) << "while " << name << " is read";
    ASSERT_TRUE(testing::comes_true([&] { return shown.session.state() == LoadState::ready; }));
    EXPECT_TRUE(shown.banner().startsWith(missing + QLatin1Char{'\n'})) << shown.banner().toStdString();
    EXPECT_TRUE(shown.banner().contains(QString::fromLatin1(name)));
  }
  EXPECT_FALSE(shown.banner().contains(QStringLiteral("no/such/run"))) << "only the last failure";
  shown.session.show(*run_from_text("0 compute 0 100 gemm\n"));
  EXPECT_EQ(shown.banner(), QString{});
}

TEST(MainWindow, AClosedWarningStaysClosedUntilThereIsAnother) {
  ShownWindow shown{"@quality events_dropped 7\n@quality ranks_missing 2\n0 compute 0 100 gemm\n"};
  EXPECT_TRUE(shown.banner().contains(QStringLiteral("\nRanks missing: 2. Some ranks of the job are not in")))
      << shown.banner().toStdString();
  shown.window.findChild<QToolButton*>(QStringLiteral("banner_close"))->click();
  EXPECT_EQ(shown.banner(), QString{});
  shown.session.open({.paths = {"no/such/run"}});
  ASSERT_TRUE(testing::comes_true([&] { return !shown.banner().isEmpty(); }));
  EXPECT_FALSE(shown.banner().contains(QStringLiteral("Events dropped"))) << "read already";
}

TEST(MainWindow, FitsOnASmallScreen) {
  Session session;
  MainWindow window{session};
  const QSize room = window.screen()->availableGeometry().size();
  EXPECT_LE(window.width(), room.width() * 9 / 10);
  EXPECT_LE(window.height(), room.height() * 9 / 10);
  window.show();
  session.open({.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}});
  ASSERT_TRUE(testing::becomes_ready(session));
  window.resize(960, 540);
  EXPECT_TRUE(testing::comes_true([&] { return window.size() == QSize(960, 540); }))
      << window.minimumSizeHint().width() << " x " << window.minimumSizeHint().height();
}

TEST(MainWindow, StaysAsItIsWhenAFindingAndThenAnEventIsShown) {
  Session session;
  MainWindow window{session};
  window.resize(1280, 800);
  window.show();
  session.open({.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}});
  ASSERT_TRUE(testing::becomes_ready(session));
  ASSERT_TRUE(testing::comes_true([&] { return window.timeline().is_up_to_date(); }));
  const QSize before = window.timeline().size();
  session.select_finding(0);
  QTest::qWait(50);
  EXPECT_EQ(window.timeline().size(), before);
  session.select(SpanId{40});
  QTest::qWait(50);
  EXPECT_EQ(window.timeline().size(), before);
  const auto* const findings = window.findChild<QTableView*>(QStringLiteral("findings_table"));
  EXPECT_GT(findings->columnWidth(1), 250) << "the sentence can be read";
}

TEST(MainWindow, SaysHowOftenTheRunHasWhatIsSearchedFor) {
  ShownWindow shown{"0 compute 0 100 gemm\n0 compute 200 300 gemm\n0 compute 400 500 relu\n"};
  const auto* const count = shown.window.findChild<QLabel*>(QStringLiteral("search_count"));
  auto* const search = shown.window.findChild<QLineEdit*>(QStringLiteral("search"));
  EXPECT_TRUE(count->text().isEmpty());
  search->setText(QStringLiteral("gemm"));
  EXPECT_TRUE(testing::comes_true([&] { return count->text() == QStringLiteral("2 hits"); }))
      << count->text().toStdString();
  shown.session.select(SpanId{1});
  EXPECT_EQ(count->text(), QStringLiteral("hit 2 of 2"));
  search->setText(QStringLiteral("conv"));
  EXPECT_TRUE(testing::comes_true([&] { return count->text() == QStringLiteral("no match"); }))
      << count->text().toStdString();
  EXPECT_EQ(count->palette().color(count->foregroundRole()), wrong_colour(count->palette()));
  search->clear();
  EXPECT_TRUE(testing::comes_true([&] { return count->text().isEmpty(); }));
}

TEST(MainWindow, SaysWhichRankTheRunDoesNotHave) {
  ShownWindow shown{"0 compute 0 100 gemm\n1 compute 0 400 gemm\n"};
  const auto says = [&shown](const char* sentence) {
    const auto labels = shown.window.findChildren<QLabel*>();
    return std::ranges::any_of(labels, [sentence](const QLabel* label) {
      return label->isVisible() && label->text() == QString::fromLatin1(sentence);
    });
  };
  const auto* const ranks = shown.window.findChild<QLineEdit*>(QStringLiteral("ranks"));
  shown.window.choose_ranks(QStringLiteral("1"));
  shown.window.choose_ranks(QStringLiteral("99"));
  EXPECT_TRUE(says("ranks: the recording has no rank 99; its ranks are 0 to 1"));
  EXPECT_EQ(ranks->toolTip(), QStringLiteral("ranks: the recording has no rank 99; its ranks are 0 to 1"));
  EXPECT_EQ(shown.session.filter().ranks, std::vector{RankId{1}}) << "as before";
  shown.window.choose_ranks(QStringLiteral("0"));
  EXPECT_FALSE(says("ranks: the recording has no rank 99; its ranks are 0 to 1"));
  EXPECT_TRUE(ranks->toolTip().isEmpty());
  EXPECT_EQ(shown.session.filter().ranks, std::vector{RankId{0}});
}

TEST(MainWindow, ARankThatIsChosenInTheTimelineStandsInTheFieldOfRanks) {
  ShownWindow shown{"0 compute 0 100 gemm\n1 compute 0 400 gemm\n"};
  Q_EMIT shown.window.timeline().ranksChosen(QStringLiteral("1"));
  EXPECT_EQ(shown.window.findChild<QLineEdit*>(QStringLiteral("ranks"))->text(), QStringLiteral("1"));
  EXPECT_EQ(shown.session.filter().ranks, std::vector{RankId{1}});
  Q_EMIT shown.window.timeline().ranksChosen({});
  EXPECT_TRUE(shown.session.filter().ranks.empty());
}

TEST(MainWindow, ShowsTheLanesWhoseNamesAreTyped) {
  ShownWindow shown{"0 compute 0 100 gemm\n0 op 0 400 mm\n"};
  const auto lanes = [&shown] {
    return std::ranges::count(shown.window.timeline().model().tracks().tracks, TrackKind::lane, &Track::kind);
  };
  ASSERT_TRUE(testing::comes_true([&] { return lanes() == 2; }));
  auto* const field = shown.window.findChild<QLineEdit*>(QStringLiteral("lanes"));
  field->setText(QStringLiteral("stream"));
  EXPECT_EQ(lanes(), 1);
  shown.session.show(*run_from_text("0 compute 0 100 gemm\n0 op 0 400 mm\n"));
  EXPECT_TRUE(field->text().isEmpty()) << "another run has other lanes";
  EXPECT_TRUE(testing::comes_true([&] { return lanes() == 2; }));
}

TEST(MainWindow, GoesOnWhileAFolderIsChosenAndOpensIt) {
  ShownWindow shown{"0 compute 0 100 gemm\n"};
  const auto actions = shown.window.findChildren<QAction*>();
  const auto open = std::ranges::find_if(
      actions, [](const QAction* one) { return one->shortcut() == QKeySequence{QStringLiteral("Ctrl+Shift+O")}; });
  ASSERT_NE(open, actions.end());
  (*open)->trigger();
  QPointer<QFileDialog> dialog = shown.window.findChild<QFileDialog*>();
  ASSERT_TRUE(dialog);
  EXPECT_TRUE(dialog->isVisible());
  Q_EMIT dialog->fileSelected(QStringLiteral(RANKSCOPE_SAMPLES "/demo.rankscope"));
  dialog->reject();
  ASSERT_TRUE(testing::becomes_ready(shown.session));
  EXPECT_EQ(shown.session.run()->ranks().size(), 4U);
  EXPECT_TRUE(testing::comes_true([&] { return dialog.isNull(); })) << "it is gone when it is closed";
}

}  // namespace
}  // namespace rankscope::gui
