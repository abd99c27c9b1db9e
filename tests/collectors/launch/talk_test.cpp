// What record says at its end.
#include "launch/talk.h"

#include <gmock/gmock.h>

namespace rankscope::collectors {
namespace {

TEST(SummaryText, NamesBothLimitsOnProcessesThatAreSampledFromOutside) {
  RecordSummary summary;
  summary.not_watched = 7;
  EXPECT_THAT(summary_text(summary),
              ::testing::AllOf(::testing::HasSubstr("7 processes without events could not be sampled"),
                               ::testing::HasSubstr("more than 64 at a time (more than 256 if they have ranks)")));
}

}  // namespace
}  // namespace rankscope::collectors
