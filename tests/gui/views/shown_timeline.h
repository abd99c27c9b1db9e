// A timeline without a window around it, and what users do to it.
#pragma once

#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QHelpEvent>
#include <QToolTip>
#include <QWheelEvent>

#include "gui/waiting.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/views/timeline/timeline_view.h"

namespace rankscope::testing {

inline constexpr const char* two_ranks =
    "@run world_size=2 clock=same_host clock_error=1\n"
    "@group dp 0,1\n"
    "0 step 0 1000000 step index=0\n"
    "0 step 1000000 2000000 step index=1\n"
    "0 compute 0 300000 gemm\n"
    "0 compute 300000 400000 relu\n"
    "0 compute 1000000 1300000 gemm\n"
    "0 comm 400000 900000 allreduce group=dp seq=0\n"
    "0 comm 1400000 1900000 allreduce group=dp seq=1\n"
    "1 step 0 1000000 step index=0\n"
    "1 step 1000000 2000000 step index=1\n"
    "1 compute 0 600000 gemm\n"
    "1 compute 600000 700000 relu\n"
    "1 compute 1000000 1600000 gemm\n"
    "1 comm 700000 900000 allreduce group=dp seq=0\n"
    "1 comm 1700000 1900000 allreduce group=dp seq=1\n";

struct ShownTimeline {
  gui::Session session;
  gui::TimelineView view{session};

  explicit ShownTimeline(const char* text = two_ranks) {
    view.resize(1200, 700);
    view.show();
    view.setFocus();
    session.show(*run_from_text(text));
    EXPECT_TRUE(comes_true([this] {
      return session.state() == gui::LoadState::ready && view.model().facts() != nullptr &&
             view.model().facts()->waits_known && view.is_up_to_date();
    }));
    EXPECT_TRUE(QTest::qWaitForWindowActive(&view));
  }
  SpanId find(RankId rank, std::string_view name, int which = 0) const {
    const Run& run = *session.run();
    for (const Span& span : run.spans())
      if (run.lane(span.lane).rank == rank && run.text(span.name) == name && which-- == 0) return run.id_of(span);
    return {};
  }
  QPoint middle(SpanId span) const { return view.box_of(span)->center().toPoint(); }
  /// What is said of the place under the mouse.
  QString tip(QPoint at) {
    QHelpEvent event{QEvent::ToolTip, at, view.mapToGlobal(at)};
    QApplication::sendEvent(&view, &event);
    return QToolTip::text();
  }
  void wheel(QPoint at, QPoint angle, Qt::KeyboardModifiers modifiers) {
    QWheelEvent event(at, view.mapToGlobal(at), {}, angle, Qt::NoButton, modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&view, &event);
  }
  void drag(QPoint from, QPoint to, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::mousePress(&view, Qt::LeftButton, modifiers, from);
    QTest::mouseMove(&view, (from + to) / 2);
    QTest::mouseMove(&view, to);
    QTest::mouseRelease(&view, Qt::LeftButton, modifiers, to);
  }
  /// Presses the first key of a command.
  void press(const char* id) {
    const auto* const action = view.findChild<QAction*>(QString::fromLatin1(id));
    ASSERT_NE(action, nullptr) << id;
    QTest::keySequence(&view, action->shortcuts().front());
  }
};

}  // namespace rankscope::testing
