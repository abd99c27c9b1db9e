// whatif: exit statuses and what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/demo.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

using ::testing::HasSubstr;
using testing::ProgramResult;

ProgramResult whatif(std::vector<std::string> words) {
  words.insert(words.begin(), {RANKSCOPE_PROGRAM, "whatif"});
  return testing::run_program(words);
}

TEST(WhatIfVerb, PredictsAStepWithoutTheSlowRank) {
  const ProgramResult shown = whatif({demo, "--fix", "rank:2"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("A step would take 114 ms instead of 162 ms: 29.7 % less."));
  EXPECT_THAT(shown.out, HasSubstr("error 0.0 %"));
}

TEST(WhatIfVerb, ShowsSeveralChangesAloneAndTogether) {
  const ProgramResult shown = whatif({demo, "--fix", "rank:2", "--fix", "network", "--json", "-"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  const auto answer = nlohmann::json::parse(shown.out);
  EXPECT_EQ(answer["schema"], "rankscope.whatif/1");
  ASSERT_EQ(answer["alone"].size(), 2U);
  EXPECT_EQ(answer["predicted"]["fixes"], nlohmann::json({"rank:2", "network"}));
  EXPECT_LT(answer["predicted"]["step_ns"], answer["alone"][0]["step_ns"]);
  EXPECT_LT(answer["alone"][0]["step_ns"], answer["unchanged"]["step_ns"]);
  EXPECT_EQ(answer["steps"].size(), 12U);
}

TEST(WhatIfVerb, RefusesWhatIsNoChangeWithStatus2) {
  const ProgramResult wrong = whatif({demo, "--fix", "faster"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--fix faster: no such fix; choose from rank:R, host:NAME,"));
  const ProgramResult without = whatif({demo});
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.err, HasSubstr("whatif needs a change: rankscope whatif RUN --fix rank:2"));
  EXPECT_THAT(whatif({demo, "--fix", "rank:7"}).err,
              HasSubstr("--fix rank:7: the recording has no rank 7; choose from ranks 0–3"));
  const ProgramResult absent = whatif({demo, "--fix", "op:no_such_*"});
  EXPECT_EQ(absent.status, 2);
  EXPECT_THAT(absent.err, HasSubstr("--fix op:no_such_*: the recording has nothing that this fix would change"));
  EXPECT_EQ(whatif({demo, "--fix", "rank:2", "--steps", "100:200"}).status, 2);
}

TEST(WhatIfVerb, SaysWithStatus4WhatKeepsItFromPredicting) {
  const testing::TemporaryFolder folder;
  const std::string run = (folder / "two_hosts.txt").string();
  std::ofstream{run} << "@run source=rankscope clock=none\n@rank 0 host=a\n0 step 0 10 step index=0\n0 op 0 5 x\n"
                        "@group dp 0,1\n0 comm 5 10 allreduce group=dp op=allreduce seq=0 enqueued=5 bytes=8\n"
                        "@rank 1 host=b\n1 step 0 10 step index=0\n1 op 0 5 x\n"
                        "1 comm 5 10 allreduce group=dp op=allreduce seq=0 enqueued=5 bytes=8\n";
  const ProgramResult refused = whatif({run, "--fix", "rank:1"});
  EXPECT_EQ(refused.status, 4);
  EXPECT_THAT(refused.err, HasSubstr("no change can be predicted: the clocks of the ranks cannot be compared"));
}

TEST(WhatIfVerb, CannotTellWithStatus4WhereTheOnlyPeerDoesOtherWork) {
  const testing::TemporaryFolder folder;
  const std::string run = (folder / "extra.txt").string();
  std::ofstream{run} << "@run source=rankscope clock=same_host clock_error=0\n@group dp 0,1\n"
                        "0 step 0 90 step index=0\n0 forward 0 40 forward\n0 optimizer 40 70 extra\n"
                        "0 wait 70 90 wait\n0 comm 70 90 allreduce group=dp seq=0 enqueued=70 on=main\n"
                        "1 step 0 90 step index=0\n1 forward 0 40 forward\n"
                        "1 wait 40 90 wait\n1 comm 40 90 allreduce group=dp seq=0 enqueued=40 on=main\n";
  const ProgramResult refused = whatif({run, "--fix", "rank:0"});
  EXPECT_EQ(refused.status, 4);
  EXPECT_THAT(refused.err, HasSubstr("extra.txt: cannot tell what --fix rank:0 would save: 30 ns of the rank's work "
                                     "per step has no counterpart on its only peer"));
}

TEST(WhatIfVerb, ListsTheChangesInItsHelp) {
  const ProgramResult help = whatif({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* form : {"rank:R", "op:GLOB[*F]", "link:A-B[*F]", "overlap:all"})
    EXPECT_THAT(help.out, HasSubstr(form));
}

TEST(WhatIfVerb, SaysInJsonTooWhyNothingIsPredicted) {
  const testing::TemporaryFolder folder;
  const auto path = folder / "apart.txt";
  std::ofstream{path} << "@run clock=none\n@rank 0 host=a\n0 step 0 10 step index=0\n0 op 0 5 x\n"
                         "@group dp 0,1\n0 comm 5 10 allreduce group=dp op=allreduce seq=0 enqueued=5 bytes=8\n"
                         "@rank 1 host=b\n1 step 0 10 step index=0\n1 op 0 5 x\n"
                         "1 comm 5 10 allreduce group=dp op=allreduce seq=0 enqueued=5 bytes=8\n";
  const ProgramResult refused = whatif({path.string(), "--fix", "rank:1", "--json", "-"});
  EXPECT_EQ(refused.status, 4);
  EXPECT_THAT(refused.err, HasSubstr("no change can be predicted: the clocks of the ranks cannot be compared"));
  const auto answer = nlohmann::json::parse(refused.out);
  EXPECT_EQ(answer["schema"], "rankscope.whatif/1");
  EXPECT_EQ(answer["predicted"]["unavailable"], "the clocks of the ranks cannot be compared");
}

}  // namespace
}  // namespace rankscope
