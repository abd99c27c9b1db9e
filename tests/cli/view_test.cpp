// view: exit statuses. What the viewer shows is tested in tests/gui.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.h"

namespace rankscope {
namespace {

using ::testing::HasSubstr;
using testing::ProgramResult;

ProgramResult view(std::vector<std::string> words, const std::vector<std::string>& environment = {}) {
  words.insert(words.begin(), {RANKSCOPE_PROGRAM, "view"});
  return testing::run_program(words, environment);
}

const std::string demo = RANKSCOPE_SAMPLES "/demo.rankscope";

/// Both where the viewer was not built and where no display answers, the way out is named.
TEST(ViewVerb, EndsWithStatus5AndAWayOutWhereNoWindowCanBeOpened) {
  const ProgramResult refused = view({demo}, {"DISPLAY=:4711", "QT_QPA_PLATFORM=xcb", "WAYLAND_DISPLAY="});
  EXPECT_EQ(refused.status, 5);
  EXPECT_THAT(refused.err, HasSubstr("rankscope report RUN --html page.html"));
}

#ifdef RANKSCOPE_HAS_VIEWER
TEST(ViewVerb, RefusesWrongOptionsWithStatus2) {
  EXPECT_EQ(view({}).status, 2);
  EXPECT_THAT(view({demo, "--at", "soon"}).err, HasSubstr("'soon' is no time; write e.g. 1.5s"));
  EXPECT_EQ(view({demo, "--at", "soon"}).status, 2);
  EXPECT_EQ(view({demo, "--ranks", "x"}).status, 2);
}

TEST(ViewVerb, EndsWithStatus3WhereThereIsNoFile) {
  const ProgramResult refused = view({"no/such.rankscope"});
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, HasSubstr("no/such.rankscope: there is no such file or folder"));
}
#endif

}  // namespace
}  // namespace rankscope
