// Names by the time that a run spends in them.
#include <gtest/gtest.h>

#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/base/name_places.h"

namespace rankscope::gui {
namespace {

TEST(NamePlaces, TheNamesWithTheLongestTotalTimeAreFirst) {
  const auto run = *run_from_text(
      "0 op 0 10 relu\n0 op 10 70 gemm_1\n0 op 70 130 gemm_2\n0 op 130 230 norm\n0 op 230 231 tiny\n0 op 231 232 "
      "also\n");
  const NamePlaces places{*run, 3};
  const auto of = [&](const char* name) { return places.of(run->strings().find(name)); };
  EXPECT_EQ(of("gemm_1"), 0);
  EXPECT_EQ(of("gemm_2"), 0) << "digits do not count";
  EXPECT_EQ(of("norm"), 1);
  EXPECT_EQ(of("relu"), 2);
  EXPECT_EQ(of("tiny"), NamePlaces::none);
  EXPECT_EQ(of("also"), NamePlaces::none);
}

}  // namespace
}  // namespace rankscope::gui
