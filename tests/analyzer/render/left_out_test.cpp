#include "render/left_out.h"

#include <gtest/gtest.h>

namespace rankscope::analyzer {
namespace {

TEST(LeftOut, IsCountedInTheSingularAndThePlural) {
  EXPECT_EQ(not_shown(1), "1 more is not shown");
  EXPECT_EQ(not_shown(3), "3 more are not shown");
  EXPECT_EQ(not_shown(1, "rank"), "1 more rank is not shown");
  EXPECT_EQ(only_in_json(3, "rank"), "3 more ranks are not shown; the JSON report lists all.");
}

TEST(LeftOut, SaysNothingIfAllIsShown) {
  EXPECT_EQ(in_text(left_out(3, 5)), "");
  EXPECT_EQ(on_page(left_out(3, 3)), "");
  EXPECT_EQ(in_text(left_out(5, 3)), "2 more are not shown; --top 5 shows all.");
}

}  // namespace
}  // namespace rankscope::analyzer
