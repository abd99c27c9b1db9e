// The time that a run is opened at.
#include <gtest/gtest.h>

#include "gui/runs.h"
#include "rankscope/gui/models/session/moments.h"
#include "support/changed_run.h"

namespace rankscope::gui {
namespace {

constexpr nanoseconds ms{1'000'000};

/// The clock of rank 1 is five seconds late: aligned, the run is that much shorter.
std::shared_ptr<const Run> skewed_run() {
  return testing::with_skewed_clocks(*testing::recorded({.ranks = 2, .steps = 16}),
                                     {{}, {.offset_ns = -5'000'000'000}});
}

nanoseconds seen_at(const Session& session) {
  return session.visible().begin + session.visible().length() / 2 - session.extent().begin;
}

TEST(FirstLook, StaysAtItsTimeWhenTheClocksAreAligned) {
  Session session;
  session.show(skewed_run());
  const RunTime recorded_begin = session.extent().begin;
  look_at(session, 80 * ms);
  EXPECT_EQ(seen_at(session), 80 * ms);
  ASSERT_TRUE(testing::becomes_ready(session));
  ASSERT_NE(session.extent().begin, recorded_begin) << "the report has moved the run";
  EXPECT_EQ(seen_at(session), 80 * ms);
  EXPECT_EQ(session.visible().length(), 100 * ms);
}

TEST(FirstLook, OfATimeBehindTheEndIsRefusedInASentence) {
  Session session;
  session.show(testing::recorded({.ranks = 2, .steps = 4}));
  EXPECT_TRUE(why_not_at(session, session.extent().length()).isEmpty());
  const QString why = why_not_at(session, session.extent().length() + nanoseconds{1});
  EXPECT_TRUE(why.startsWith(QStringLiteral("--at must be within the run, which ends "))) << why.toStdString();
}

TEST(FirstLook, LeavesTheViewToWhoHasMovedIt) {
  Session session;
  session.show(skewed_run());
  look_at(session, 80 * ms);
  session.set_visible({session.extent().begin + 5'100 * ms, session.extent().begin + 5'110 * ms});
  ASSERT_TRUE(testing::becomes_ready(session));
  EXPECT_EQ(session.visible().length(), 10 * ms);
}

TEST(FirstLook, IsOfTheRunThatWasOpenOnly) {
  Session session;
  session.show(skewed_run());
  look_at(session, 80 * ms);
  session.show(skewed_run());
  ASSERT_TRUE(testing::becomes_ready(session));
  EXPECT_EQ(session.visible(), session.extent());
}

}  // namespace
}  // namespace rankscope::gui
