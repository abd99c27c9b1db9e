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

TEST(SummaryText, EventsThatWereReplacedAndEventsThatWereLostAreToldApart) {
  RecordSummary summary;
  summary.thinned = 12'345;
  summary.thinned_without_sums = 678;
  summary.thinned_without_steps = 9;
  EXPECT_THAT(
      summary_text(summary),
      ::testing::AllOf(
          ::testing::HasSubstr("rankscope: removed 12345 older events while the command ran, as --keep or its default "
                               "requires; sums for each step are kept\n"),
          ::testing::HasSubstr("rankscope: lost 678 older events whose steps have no sums: --keep was too small, or "
                               "sums could not be stored\n"),
          ::testing::HasSubstr(
              "rankscope: while the command ran, removed 9 older events of processes without steps, as "
              "--keep or its default requires\n")));
}

}  // namespace
}  // namespace rankscope::collectors
