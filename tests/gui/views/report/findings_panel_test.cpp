// The panel of findings, and the verdict above them.
#include <gtest/gtest.h>

#include <QDockWidget>
#include <QLabel>

#include "gui/waiting.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/views/window/main_window.h"

namespace rankscope::gui {
namespace {

TEST(FindingsPanel, ALinkInTheVerdictOpensThePanelThatItNames) {
  Session session;
  MainWindow window{session};
  window.resize(1280, 800);
  window.show();
  session.show(*run_from_text("@quality events_dropped 7\n0 compute 0 100 gemm\n"));
  ASSERT_TRUE(testing::becomes_ready(session));
  QLabel* verdict = nullptr;
  for (const char* const name : {"findings_note", "findings_empty"})
    if (auto* const label = window.findChild<QLabel*>(QString::fromLatin1(name));
        label->text().contains(QStringLiteral("<a href=\"quality\">")))
      verdict = label;
  ASSERT_NE(verdict, nullptr);
  auto* const quality = window.findChild<QDockWidget*>(QStringLiteral("quality"));
  quality->close();
  Q_EMIT verdict->linkActivated(QStringLiteral("quality"));
  QCoreApplication::processEvents();
  EXPECT_TRUE(quality->isVisible());
  EXPECT_FALSE(quality->visibleRegion().isEmpty()) << "before the tabs beside it";
}

}  // namespace
}  // namespace rankscope::gui
