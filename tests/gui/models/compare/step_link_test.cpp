// Two runs on one zoom.
#include <gtest/gtest.h>

#include "gui/runs.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/compare/step_link.h"

namespace rankscope::gui {
namespace {

/// Steps one after the other, each as long as given.
std::shared_ptr<const Run> run_of_steps(std::int64_t first_index, const std::vector<std::int64_t>& lengths) {
  std::string text;
  std::int64_t begin = 1000;
  for (const std::int64_t length : lengths) {
    text += format("0 step {} {} step index={}\n", begin, begin + length, first_index++);
    text += format("0 compute {} {} gemm\n", begin, begin + length / 2);
    begin += length;
  }
  return *run_from_text(text);
}

struct Linked {
  Session a;
  Session b;
  StepLink link{a, b};

  Linked(std::shared_ptr<const Run> run_a, std::shared_ptr<const Run> run_b) {
    a.show(std::move(run_a));
    b.show(std::move(run_b));
    EXPECT_TRUE(testing::becomes_ready(a) && testing::becomes_ready(b));
  }
};

TEST(StepLink, PutsStepsOfOneNumberBelowEachOther) {
  Linked runs{run_of_steps(0, {1000, 1000, 1000, 1000}), run_of_steps(0, {1500, 1500, 1500, 1500})};
  ASSERT_EQ(runs.link.steps().size(), 4U);
  runs.a.set_visible({at(3000), at(3400)});  // from the begin of step 2 on
  EXPECT_EQ(runs.b.visible(), (TimeRange{at(4000), at(4400)}));
  runs.a.set_visible({at(2100), at(2300)});  // 100 ns into step 1
  EXPECT_EQ(runs.b.visible(), (TimeRange{at(2600), at(2800)}));
}

TEST(StepLink, FollowsInBothDirectionsAndKeepsOneZoom) {
  Linked runs{run_of_steps(0, {1000, 1000, 1000, 1000}), run_of_steps(0, {1500, 1500, 1500, 1500})};
  runs.b.set_visible({at(5500), at(6000)});  // step 3
  EXPECT_EQ(runs.a.visible(), (TimeRange{at(4000), at(4500)}));
  runs.a.fit_all();
  EXPECT_EQ(runs.a.visible(), runs.a.extent());
  EXPECT_EQ(runs.b.visible().length(), runs.a.visible().length());
  runs.b.fit_all();
  EXPECT_EQ(runs.b.visible(), runs.b.extent());
  EXPECT_EQ(runs.a.visible().length(), runs.b.visible().length()) << "also where that is more than A has";
}

TEST(StepLink, StepsAreMatchedByTheirNumbers) {
  Linked runs{run_of_steps(5, {1000, 1000, 1000}), run_of_steps(6, {1000, 1000, 1000})};
  ASSERT_EQ(runs.link.steps().size(), 2U);
  runs.a.set_visible({at(2000), at(2200)});  // step 6
  EXPECT_EQ(runs.b.visible(), (TimeRange{at(1000), at(1200)}));
}

TEST(StepLink, WithoutStepsTheBeginsOfTheRunsStandBelowEachOther) {
  Linked runs{*run_from_text("0 compute 0 1000 gemm\n"), *run_from_text("0 compute 5000 6000 gemm\n")};
  EXPECT_EQ(runs.link.usual_step(), nullptr);
  runs.a.set_visible({at(100), at(200)});
  EXPECT_EQ(runs.b.visible(), (TimeRange{at(5100), at(5200)}));
}

TEST(StepLink, TheUsualStepIsOfMedianLengthAndCountsInBoth) {
  Linked runs{run_of_steps(0, {9000, 1000, 1200, 1400, 5000}), run_of_steps(0, {9000, 1000, 1200, 1400, 5000})};
  ASSERT_NE(runs.link.usual_step(), nullptr);
  runs.link.show(*runs.link.usual_step());
  EXPECT_EQ(runs.a.visible(), runs.b.visible());
  EXPECT_FALSE(intersect(runs.a.visible(), runs.link.usual_step()->a).empty());
  EXPECT_LT(runs.link.usual_step()->a.length(), nanoseconds{5000});
}

}  // namespace
}  // namespace rankscope::gui
