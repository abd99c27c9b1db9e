#include "rankscope/analyzer/summary.h"

#include <gmock/gmock.h>

#include "rankscope/core/model/text.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;

std::string summary_of(std::string_view text) {
  const auto run = run_from_text(text);
  EXPECT_TRUE(run) << run.error().message;
  return run ? summarize(**run) : "";
}

TEST(Summary, SumsCollectivesOfAGroup) {
  EXPECT_THAT(summary_of("@group dp 0,1\n"
                         "0 comm 0 10 allreduce group=dp bytes=4\n"
                         "0 comm 20 50 allreduce group=dp bytes=8\n"),
              HasSubstr("collectives: 2 allreduce in group dp, 12 bytes, 40 ns\n"));
}

TEST(Summary, ASumThatNoNumberHoldsIsSaidToBeMore) {
  const std::string text = summary_of(
      "@group dp 0,1\n"
      "0 comm 0 4000000000000000000 allreduce group=dp bytes=9000000000000000000\n"
      "1 comm 0 4000000000000000000 allreduce group=dp bytes=9000000000000000000\n"
      "0 comm 0 4000000000000000000 allreduce group=dp bytes=5\n");
  EXPECT_THAT(text, HasSubstr("collectives: 3 allreduce in group dp, more than 9223372036854775807 bytes, more than "
                              "9223372036854775807 ns\n"));
  EXPECT_THAT(text, HasSubstr("spans: 3 comm, more than 9223372036854775807 ns together\n"));
}

TEST(Summary, MarksAreCountedOnTheirLane) {
  EXPECT_THAT(summary_of("0 op 0 9 a\n0 mark 5 one\n0 mark 6 two\n"), HasSubstr(", 1 op, 2 marks\n"));
}

}  // namespace
}  // namespace rankscope::analyzer
