// Names on bars that are too short for them.
#include "timeline/label_text.h"

#include <gtest/gtest.h>

#include <QFont>

namespace rankscope::gui {
namespace {

TEST(LabelText, KeepsBothEndsOfANameAndMoreOfTheEnd) {
  const QString name = QStringLiteral("native_layer_norm_backward_cuda");
  EXPECT_EQ(shortened_label(name, 40), name);
  EXPECT_EQ(shortened_label(name, 31), name);
  EXPECT_EQ(shortened_label(name, 15), QStringLiteral("nativ…kward_cuda"));
  EXPECT_EQ(shortened_label(name, 4), QStringLiteral("nati…"));
  EXPECT_EQ(shortened_label(name, 1), QString{});
}

TEST(LabelText, IsNeverWiderThanItsBarWhateverItsLetters) {
  const QFontMetricsF metrics{QFont{}};
  for (const QString& name :
       {QStringLiteral("iiiiiiiiiiiiiiiiiiiiWWWWWWWWWWWWWWWWWWWW"), QStringLiteral("WWWWWWWWWWWWiiiiiiiiiiiiiiii"),
        QStringLiteral("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")}) {
    const MeasuredLabel label{name, metrics};
    const double whole = metrics.horizontalAdvance(name);
    for (int room = 0; room < static_cast<int>(whole); room += 3)
      EXPECT_LE(metrics.horizontalAdvance(label.fitting(room)), room + 1)
          << name.toStdString() << " in " << room;  // 1: kerning
    EXPECT_EQ(label.fitting(whole + 1), name);
  }
}

TEST(LabelText, UsesTheRoomThatThereIs) {
  const QFontMetricsF metrics{QFont{}};
  const QString name = QStringLiteral("iiiiiiiiiiiiiiiiiiiiWWWWWWWWWWWWWWWWWWWW");
  const double room = metrics.horizontalAdvance(name) / 2;
  EXPECT_GT(metrics.horizontalAdvance(MeasuredLabel(name, metrics).fitting(room)),
            room - 2 * metrics.horizontalAdvance(QLatin1Char{'W'}));
}

}  // namespace
}  // namespace rankscope::gui
