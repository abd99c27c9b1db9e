// scale: exit statuses and what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/demo.h"
#include "support/run_program.h"

namespace rankscope {
namespace {

using ::testing::HasSubstr;
using testing::ProgramResult;

ProgramResult scale(std::vector<std::string> words) {
  words.insert(words.begin(), {RANKSCOPE_PROGRAM, "scale"});
  return testing::run_program(words);
}

TEST(ScaleVerb, PredictsOnOneHost) {
  const ProgramResult shown = scale({demo, "--to", "8,16", "--ranks-per-host", "16"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("16 ranks would take"));
}

TEST(ScaleVerb, SaysWithStatus4WhyItPredictsNothing) {
  const ProgramResult refused = scale({demo, "--to", "8"});
  EXPECT_EQ(refused.status, 4);
  EXPECT_THAT(refused.err, HasSubstr("give --latency-us and --bandwidth-gbps"));
  EXPECT_THAT(refused.out, HasSubstr("Nothing is predicted"));
  EXPECT_THAT(refused.out, ::testing::Not(HasSubstr("of the efficiency of"))) << "one run is compared with nothing";
}

TEST(ScaleVerb, RefusesWrongOptionsWithStatus2) {
  EXPECT_THAT(scale({demo, "--to", "x"}).err, ::testing::HasSubstr("--to must be a whole number of at least 1"));
  EXPECT_EQ(scale({}).status, 2);
  EXPECT_EQ(scale({demo, "--to", "1"}).status, 2);
  EXPECT_EQ(scale({demo, "--weak", "--strong"}).status, 2);
  EXPECT_EQ(scale({demo, "--latency-us", "5"}).status, 2);
  const ProgramResult no_steps = scale({demo, "--steps", "1000:2000"});
  EXPECT_EQ(no_steps.status, 2);
  EXPECT_THAT(no_steps.err, HasSubstr("demo.rankscope: "));
}

}  // namespace
}  // namespace rankscope
