#include "rankscope/core/printable.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(Printable, EscapeCodesAreShownAndNotObeyed) {
  EXPECT_EQ(printable("a\x1b[2Jb\x07"), "a\\x1b[2Jb\\x07");
  EXPECT_EQ(printable("\xC2\x9B"), "\\x9b") << "the same in one character";
  EXPECT_EQ(printable("\x9B"), "\xEF\xBF\xBD") << "which is no UTF-8 alone";
  EXPECT_EQ(printable("\xE2\x80\xAE"), "\\u{202e}") << "turns the direction of text around";
}

TEST(Printable, LinesStayLines) {
  EXPECT_EQ(printable("a\nb"), "a\\x0ab");
  EXPECT_EQ(printable_lines("a\x1b\n\nb\n"), "a\\x1b\n\nb\n");
  EXPECT_EQ(printable_lines(""), "");
}

}  // namespace
}  // namespace rankscope
