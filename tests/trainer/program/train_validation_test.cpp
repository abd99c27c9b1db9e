// Passes over samples that are not trained on: what they find must not depend on how the work is shared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <sstream>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

using ::testing::HasSubstr;

const std::string gpt =
    "--model gpt --layers 6 --hidden 16 --heads 4 --seq 4 --dtype f64 --steps 4 --global-batch 8 --pace off ";
const std::string cnn = "--model cnn --dtype f64 --steps 4 --global-batch 8 --pace off ";
const std::string mlp = "--dtype f64 --steps 3 --global-batch 8 --pace off ";

std::vector<std::string> validations(const std::string& options) {
  const ProgramResult result = train(options);
  EXPECT_EQ(result.status, 0) << result.err;
  std::vector<std::string> lines;
  std::istringstream text{result.out};
  for (std::string line; std::getline(text, line);)
    if (line.starts_with("validation after")) lines.push_back(line);
  return lines;
}

struct Shared {
  std::string name;
  std::string model;
  std::string options;
};
void PrintTo(const Shared& shared, std::ostream* out) { *out << shared.name; }

class TrainValidation : public ::testing::TestWithParam<Shared> {};

// 37 samples are no multiple of anything: the last batches are filled with some that do not count.
TEST_P(TrainValidation, FindsTheSameHoweverTheWorkIsShared) {
  const std::string passes = "--validate-every 3 --validation-samples 37 ";
  const auto alone = validations(GetParam().model + passes + "--parallel single");
  ASSERT_EQ(alone.size(), 2u) << "after step 3, and after the last one";
  EXPECT_THAT(alone[0], HasSubstr("after step     3"));
  EXPECT_THAT(alone[1], HasSubstr("of 37 samples"));
  EXPECT_EQ(validations(GetParam().model + passes + GetParam().options), alone);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, TrainValidation,
    ::testing::Values(Shared{"ddp", gpt, "--parallel ddp --ranks 4"}, Shared{"dp", gpt, "--parallel dp"},
                      Shared{"mp", gpt, "--parallel mp"}, Shared{"ddp_mp", gpt, "--parallel ddp+mp --ranks 2"},
                      Shared{"zero1", gpt, "--parallel zero1 --ranks 2"},
                      Shared{"zero3", gpt, "--parallel zero3 --ranks 2"}, Shared{"tp", gpt, "--parallel tp --ranks 2"},
                      Shared{"tp_sp", gpt, "--parallel tp+sp --ranks 2"},
                      Shared{"pp", gpt, "--parallel pp --ranks 2 --micro-batches 4"},
                      Shared{"interleaved", gpt, "--parallel pp --ranks 2 --schedule interleaved --micro-batches 4"},
                      Shared{"zb_v", gpt, "--parallel pp --ranks 2 --schedule zb-v --micro-batches 4"},
                      Shared{"mesh", gpt, "--parallel 3d --ranks 8 --dp 2 --tp 2 --pp 2 --micro-batches 2"},
                      Shared{"tile", cnn, "--parallel tile --ranks 2"}, Shared{"sync_bn", cnn, "--ranks 2 --sync-bn"},
                      Shared{"zero3_sync_bn", cnn, "--parallel zero3 --ranks 2 --sync-bn"}),
    [](const auto& c) { return c.param.name; });

TEST(TrainValidationPass, LeavesTheTrainingAsItWas) {
  for (const std::string& options : {cnn + "--ranks 2 ", gpt + "--parallel zero3 --ranks 2 "}) {
    const auto without = gradients_of(options);
    ASSERT_FALSE(without.empty());
    EXPECT_EQ(largest_difference(gradients_of(options + "--validate-every 1 --validation-samples 5"), without), 0);
  }
}

TEST(TrainValidationPass, IsASpanOfItsOwnBetweenSteps) {
  const Recorded recorded = train_recorded(mlp + "--validate-every 2", 2);
  ASSERT_EQ(recorded.result.status, 0) << recorded.result.err;
  for (const auto& calls : recorded.ranks) {
    int open = 0;
    int passes = 0;
    for (const Call& call : calls) {
      if (call.thread != calls.front().thread) continue;
      if (call.words.front() == "push" && call.words.at(2) == "validation") {
        EXPECT_EQ(open, 0) << "within a step";
        ++passes;
      }
      if (call.words.front() == "push") ++open;
      if (call.words.front() == "pop") --open;
    }
    EXPECT_EQ(passes, 2);
  }
}

class RefusedValidation : public ::testing::TestWithParam<Refused> {};
TEST_P(RefusedValidation, IsExplained) {
  const ProgramResult result = train(GetParam().options);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr(GetParam().sentence));
}
INSTANTIATE_TEST_SUITE_P(BadInput, RefusedValidation,
                         ::testing::Values(Refused{"--validation-samples 10", "needs --validate-every N"},
                                           Refused{"--validate-every 1 --samples 100 --validation-samples 101",
                                                   "the validation set has only 100"},
                                           Refused{"--validate-every 0", "--validate-every"}));

// Between two steps each copy has BatchNorm statistics of its own; a checkpoint has those of the first one.
TEST(TrainValidation, AllCopiesPredictWithTheStatisticsOfTheFirstOne) {
  const auto broadcasts = [](const std::string& more) {
    const Recorded recorded = train_recorded(cnn + more, 2);
    EXPECT_EQ(recorded.result.status, 0) << recorded.result.err;
    return std::ranges::count_if(recorded.ranks.at(1), [](const Call& call) {
      return call.words.front() == "push" && call.words.back() == "wait broadcast buffers";
    });
  };
  const auto of_steps = broadcasts("");
  EXPECT_GE(of_steps, 4);
  EXPECT_EQ(broadcasts("--validate-every 2 --validation-samples 5"), of_steps + 2);
}

}  // namespace
}  // namespace rankscope::testing
