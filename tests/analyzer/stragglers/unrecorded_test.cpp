// Ranks that were not compared with all that they do, or not at all: no rank is slow, as far as is known, and no more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::SyntheticRun;

Report healthy(std::string_view more) {
  SyntheticRun plan;
  plan.head += more;
  plan.fault = [](testing::StepPlan& step, std::uint32_t, std::int64_t) { step.data = 1; };
  return analyze(*testing::make(plan), {});
}

void expect_doubt(const Report& report, std::string_view why) {
  ASSERT_TRUE(report.stragglers);
  EXPECT_EQ(report.stragglers->cannot_tell, why);
  const auto sentences = verdict_sentences(report);
  EXPECT_THAT(sentences, Each(Not(HasSubstr("No problem found"))));
  EXPECT_THAT(sentences, Each(Not(HasSubstr("would have been found"))));
}

TEST(UnrecordedCollectives, OfAHealthyRunAreNone) {
  const Report report = healthy("");
  EXPECT_EQ(report.stragglers->cannot_tell, "");
  EXPECT_THAT(verdict_sentences(report).front(), StartsWith("No problem found"));
}

TEST(UnrecordedCollectives, OfABackendHideWaiting) {
  expect_doubt(healthy("@rank 2 \"meta.pytorch_problem\"=\"could not sample stacks: OSError; collectives of the mpi "
                       "backend are not recorded\" \"meta.pytorch_collectives_problem\"=\"collectives of the mpi "
                       "backend are not recorded\"\n"),
               "collectives of the mpi backend are not recorded; waiting in them counts as work");
}

TEST(UnrecordedCollectives, OtherProblemsOfTheRecorderHideNoWaiting) {
  EXPECT_EQ(healthy("@rank 2 \"meta.pytorch_problem\"=\"could not sample stacks: OSError: no process group\"\n")
                .stragglers->cannot_tell,
            "");
}

TEST(UnrecordedCollectives, OfGroupsThatTheProgramMadeItselfHideWaiting) {
  expect_doubt(healthy("@quality comm_groups_unknown 50\n"),
               "collectives of groups that torch.distributed did not create were not recorded; waiting in them counts "
               "as work");
}

TEST(NotCompared, ARankWithoutStepsIsSaid) {
  const auto run = testing::run_of(testing::text_of({}) + "4 op 0 1000000 work\n");
  expect_doubt(analyze(*run, {}),
               "rank 4 could not be compared, for lack of complete steps or of a peer that does equal work");
}

}  // namespace
}  // namespace rankscope::analyzer
