// What the window says of the run that it shows.
#include "rankscope/gui/views/main_window.h"

#include <gtest/gtest.h>

#include "gui/waiting.h"
#include "rankscope/core/model/text.h"

namespace rankscope::gui {
namespace {

struct Shown {
  Session session;
  MainWindow window{session};

  explicit Shown(const char* text) {
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
  Shown shown{"@quality events_dropped 7\n0 compute 0 100 gemm\n"};
  const QString missing = QStringLiteral("Not everything is here: 7 events_dropped");
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

}  // namespace
}  // namespace rankscope::gui
