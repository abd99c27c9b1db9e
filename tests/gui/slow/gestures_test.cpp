// Ten thousand things that a hand may do, in any order, on the whole window.
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QFileDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QTabBar>
#include <QTimer>
#include <QWheelEvent>
#include <array>
#include <filesystem>
#include <random>

#include "gui/waiting.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "support/temporary_folder.h"
#include "timeline/commands.h"

namespace rankscope::gui {
namespace {

/// The same gestures for the same seed, so that what fails can be repeated.
class Hand {
 public:
  Hand(MainWindow& window, Session& session, unsigned seed) : window_(window), session_(session), random_(seed) {}

  void act() {
    switch (below(9)) {
      case 0:
        return QTest::mouseClick(some_widget(), Qt::LeftButton, some_modifiers(), last_place_);
      case 1:
        return drag();
      case 2:
        return wheel();
      case 3:
        return QTest::mouseDClick(some_widget(), Qt::LeftButton, {}, last_place_);
      case 4:
      case 5:
        return commands()[random_() % commands().size()].run(window_.timeline());
      case 6:
        return press_a_key();
      case 7:
        return type();
      default:
        return rearrange();
    }
  }

  /// Dialogs and menus that are open; those of files would else pile up.
  void close_dialogs() {
    while (QWidget* const popup = QApplication::activePopupWidget()) popup->close();
    for (QDialog* const dialog : window_.findChildren<QDialog*>()) {
      if (auto* const files = qobject_cast<QFileDialog*>(dialog)) files->setOption(QFileDialog::DontConfirmOverwrite);
      // Of a file that is not there a dialog of files complains in a message that waits for an answer.
      QTimer::singleShot(0, dialog, [] {
        if (auto* const message = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) message->reject();
      });
      below(2) == 0 ? dialog->reject() : dialog->accept();
    }
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  }

 private:
  int below(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)); }

  Qt::KeyboardModifiers some_modifiers() {
    constexpr std::array all{Qt::NoModifier, Qt::NoModifier, Qt::ShiftModifier, Qt::ControlModifier};
    return all[random_() % all.size()];
  }

  /// Any visible widget of the window, half of the time the timeline; menus aside, whose entries open system dialogs.
  QWidget* some_widget() {
    QWidget* widget = &window_.timeline();
    if (below(2) == 0) {
      const auto all = window_.findChildren<QWidget*>();
      QWidget* const other = all[below(static_cast<int>(all.size()))];
      if (other->isVisible() && other->isEnabled() && other->window() == &window_ && !other->inherits("QMenuBar"))
        widget = other;
    }
    last_place_ = {below(std::max(1, widget->width())), below(std::max(1, widget->height()))};
    return widget;
  }

  void drag() {
    QWidget* const widget = some_widget();
    const QPoint to{below(std::max(1, widget->width())), below(std::max(1, widget->height()))};
    const Qt::KeyboardModifiers modifiers = some_modifiers();
    QTest::mousePress(widget, Qt::LeftButton, modifiers, last_place_);
    QTest::mouseMove(widget, (last_place_ + to) / 2);
    QTest::mouseMove(widget, to);
    QTest::mouseRelease(widget, Qt::LeftButton, modifiers, to);
  }

  void wheel() {
    QWidget* const widget = some_widget();
    QWheelEvent event(last_place_, widget->mapToGlobal(last_place_), {}, {below(480) - 240, below(480) - 240},
                      Qt::NoButton, some_modifiers(), Qt::NoScrollPhase, false);
    QApplication::sendEvent(widget, &event);
  }

  void press_a_key() {
    constexpr std::array keys{Qt::Key_Tab,   Qt::Key_Down,     Qt::Key_Up,     Qt::Key_Left,
                              Qt::Key_Right, Qt::Key_Return,   Qt::Key_Escape, Qt::Key_Home,
                              Qt::Key_End,   Qt::Key_PageDown, Qt::Key_Space};
    QWidget* const widget = QApplication::focusWidget() != nullptr ? QApplication::focusWidget() : &window_.timeline();
    QTest::keyClick(widget, keys[random_() % keys.size()], some_modifiers());
  }

  void type() {
    constexpr std::array texts{"", "0", "1,3", "0-2", "9", "x", "gemm", "all.*", "((", "backward", "allreduce"};
    const auto fields = window_.findChildren<QLineEdit*>();
    fields[below(static_cast<int>(fields.size()))]->setText(QString::fromLatin1(texts[random_() % texts.size()]));
  }

  void rearrange() {
    const auto docks = window_.findChildren<QDockWidget*>();
    QDockWidget* const dock = docks[below(static_cast<int>(docks.size()))];
    switch (below(5)) {
      case 0:
        return dock->setVisible(below(4) != 0);
      case 1:
        return dock->raise();
      case 2:
        return window_.resize(600 + below(900), 400 + below(600));
      case 3:
        return session_.set_visible(session_.extent());
      default: {
        const auto choices = window_.findChildren<QComboBox*>();
        QComboBox* const choice = choices[below(static_cast<int>(choices.size()))];
        if (choice->count() > 0) choice->setCurrentIndex(below(choice->count()));
      }
    }
  }

  MainWindow& window_;
  Session& session_;
  std::mt19937 random_;
  QPoint last_place_;
};

TEST(Gestures, TenThousandInAnyOrderDoNoHarmToTheWindow) {
  const testing::TemporaryFolder folder;  // the view is kept beside the recording
  const auto recording = folder / "run.rankscope";
  std::filesystem::copy(RANKSCOPE_SAMPLES "/demo.rankscope", recording, std::filesystem::copy_options::recursive);
  Session session;
  MainWindow window{session};
  window.resize(1280, 800);
  window.show();
  session.open({.paths = {recording}});
  ASSERT_TRUE(testing::becomes_ready(session));
  Hand hand{window, session, 20260607};
  for (int i = 0; i < 10'000; ++i) {
    hand.act();
    ASSERT_FALSE(session.visible().empty()) << "gesture " << i;
    hand.close_dialogs();
    if (i % 10 == 0) QCoreApplication::processEvents();  // paints
    if (i % 2500 == 2499) session.open({.paths = {recording}});
  }
  hand.close_dialogs();
  ASSERT_TRUE(testing::becomes_ready(session));
  EXPECT_EQ(session.run()->ranks().size(), 4U);
  window.timeline().show();
  window.resize(1280, 800);
  EXPECT_TRUE(testing::comes_true([&] { return window.timeline().is_up_to_date(); }));
  window.close();
}

}  // namespace
}  // namespace rankscope::gui
