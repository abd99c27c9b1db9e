// Faults of the trainer as `rankscope hang` judges their recordings: it names the rank that the log names, and tells
// the faults apart as the log does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "support/run_program.h"
#include "support/temporary_folder.h"
#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

struct Judged {
  std::string log;
  std::string text;
  json report{};
  json root{};  ///< the only cause
};

/// Records a training with this fault, and asks for the verdict.
Judged judged(const std::string& fault, int ranks) {
  const ScratchFolder folder;
  const std::string run = folder.path("run.rankscope");
  const ProgramResult trained =
      run_program({RANKSCOPE_PROGRAM, "train", "--parallel",       "ddp", "--ranks",  std::to_string(ranks),
                   "--steps",         "8",     "--pace",           "off", "--device", "cpu",
                   "--timeout",       "3",     "--check-replicas", "1",   "--fault",  fault,
                   "--out",           run});
  EXPECT_NE(trained.status, 0) << "the fault ends the training: " << trained.err;
  const ProgramResult hang = run_program({RANKSCOPE_PROGRAM, "hang", run, "--json", folder.path("hang.json")});
  EXPECT_EQ(hang.status, 0) << hang.err;
  Judged found{.log = trained.err, .text = hang.out};
  found.report = json::parse(read_file(folder.path("hang.json")), nullptr, false);
  if (!found.report.is_object() || found.report["roots"].size() != 1)
    ADD_FAILURE() << "there is not one cause: " << hang.out << trained.err;
  else
    found.root = found.report["roots"][0];
  return found;
}

struct TrainerFault {
  std::string kind;
  int ranks;
  std::string in_log;  ///< what the log says of rank 1
  std::string verdict;
  json cause;  ///< what the cause in the verdict has
};
void PrintTo(const TrainerFault& fault, std::ostream* out) { *out << fault.kind; }

class VerdictOnFault : public ::testing::TestWithParam<TrainerFault> {};

TEST_P(VerdictOnFault, NamesTheRankAndTheKindAsTheLogDoes) {
  const TrainerFault& fault = GetParam();
  const Judged found = judged(fault.kind + ":rank=1,step=3", fault.ranks);
  EXPECT_THAT(found.log, HasSubstr(fault.in_log));
  EXPECT_EQ(found.report["verdict"], fault.verdict) << found.text;
  EXPECT_EQ(found.root["ranks"], json::array({1})) << found.text;
  EXPECT_EQ(found.root["step"], 3) << found.text;
  EXPECT_EQ(found.root["certainty"], "fact") << found.text;
  for (const auto& [key, value] : fault.cause.items()) EXPECT_EQ(found.root[key], value) << key << found.text;
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, VerdictOnFault,
    ::testing::Values(
        TrainerFault{"hang", 4, "rank 1 has not answered for 3 s", "hang", {{"kind", "stuck_outside"}}},
        TrainerFault{"nan", 2, "the loss of rank 1 is nan", "failed", {{"kind", "nan"}}},
        TrainerFault{"corrupt", 4, "rank 1 differs from the other 3 ranks", "failed", {{"kind", "corrupt"}}},
        TrainerFault{"kill", 4, "rank 1 was killed by signal 9", "crash", {{"kind", "dead"}, {"signal", 9}}},
        TrainerFault{"exit", 2, "rank 1 ended with status 3", "failed", {{"kind", "dead"}, {"exit_status", 3}}}),
    [](const auto& fault) { return fault.param.kind; });

TEST(VerdictOnFault, OfTwoCopiesItIsNotSaidWhichOneIsDamaged) {
  const Judged found = judged("corrupt:rank=1,step=3", 2);
  EXPECT_THAT(found.log, HasSubstr("ranks 0 and 1 differ, and nothing shows which of them is right"));
  EXPECT_EQ(found.report["verdict"], "failed");
  EXPECT_EQ(found.root["kind"], "corrupt");
  EXPECT_EQ(found.root["ranks"], json::array({0, 1}));
  EXPECT_THAT(found.text, HasSubstr("The copies of the model on ranks 0, 1 differ"));
}

}  // namespace
}  // namespace rankscope::testing
