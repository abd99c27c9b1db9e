// Names on bars that are too short for them.
#include "timeline/label_text.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace rankscope::gui
