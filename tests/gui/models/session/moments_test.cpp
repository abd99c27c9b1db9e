// Going to a moment of a rank.
#include <gtest/gtest.h>

#include "gui/runs.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/session/moments.h"

namespace rankscope::gui {
namespace {

std::string_view selected_name(const Session& session) {
  return session.selection() ? session.run()->text(session.run()->span(*session.selection()).name) : "nothing";
}

TEST(Going, SelectsTheInnermostEventOrTheOneThatIsNamed) {
  Session session;
  ASSERT_TRUE(testing::shows(session, *run_from_text("0 forward 0 1000 layer\n0 op 100 500 mm\n0 op 200 300 view\n"
                                                     "1 op 0 1000 other\n")));
  go_to_moment(session, RankId{0}, at(250));
  EXPECT_EQ(selected_name(session), "view");
  go_to_moment(session, RankId{0}, at(250), session.run()->strings().find("mm"));
  EXPECT_EQ(selected_name(session), "mm");
  go_to_moment(session, RankId{0}, at(400));
  EXPECT_EQ(selected_name(session), "mm") << "view has ended";
  go_to_moment(session, RankId{0}, at(600), session.run()->strings().find("mm"));
  EXPECT_EQ(selected_name(session), "layer") << "what is named was not there: the innermost counts";
}

TEST(Going, ZoomsToTheStepWhereMuchMoreIsInSight) {
  Session session;
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  const analyzer::StepWindow& step = session.report()->steps->windows[3];
  go_to_moment(session, step.rank, step.window.begin + step.window.length() / 2);
  EXPECT_EQ(session.visible().length(), step.window.length() + 2 * (step.window.length() / 10));
  EXPECT_TRUE(session.visible().contains(step.window.begin));
  const TimeRange near = session.visible();
  go_to_moment(session, step.rank, step.window.begin + step.window.length() / 3);
  EXPECT_EQ(session.visible(), near) << "it is in sight already";
}

TEST(Going, BringsAMomentThatIsOutOfSightToTheMiddle) {
  Session session;
  ASSERT_TRUE(testing::shows(session, *run_from_text("0 op 0 10000 long\n")));
  session.set_visible({at(0), at(100)});
  go_to_moment(session, RankId{0}, at(5000));
  EXPECT_EQ(session.visible(), (TimeRange{at(4950), at(5050)}));
  EXPECT_EQ(selected_name(session), "long");
}

TEST(Moments, StartUpAndTheEndAreNotShownAtFirst) {
  Session session;
  session.show(
      *run_from_text("@run clock=same_host\n0 python 0 1000000 start_up\n"
                     "0 step 1000000 1200000 step index=0\n0 step 1200000 1400000 step index=1\n"
                     "0 python 1400000 2000000 the_end\n"));
  ASSERT_TRUE(testing::becomes_ready(session));
  ASSERT_TRUE(session.report()->steps);
  show_steps(session);
  EXPECT_EQ(session.visible(), (TimeRange{at(992'000), at(1'408'000)}));
  session.set_visible({at(0), at(500'000)});
  show_steps(session);
  EXPECT_EQ(session.visible(), (TimeRange{at(0), at(500'000)})) << "somebody has looked elsewhere";
}

}  // namespace
}  // namespace rankscope::gui
