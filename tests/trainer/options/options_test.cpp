#include "rankscope/trainer/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace rankscope::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text_for(const char* option) {
  const std::array<const char*, 2> words{"rankscope-train", option};
  const auto line = parse_command_line(2, words.data());
  return line && line->text ? *line->text : "";
}

TEST(Options, HelpNamesTheDefaults) {
  const std::string help = text_for("--help");
  EXPECT_THAT(help, HasSubstr("Usage: rankscope-train"));
  for (const char* words : {"--seed UINT=1", "--timeout FLOAT:1 to 86400=30", "--pace TEXT=auto",
                            "0.05 for sgd, 0.001 for adamw", "default: set by --scale"})
    EXPECT_THAT(help, HasSubstr(words));
  for (const char* words : {"{false}", ":{auto", "Excludes", " in ["}) EXPECT_THAT(help, Not(HasSubstr(words)));
}

TEST(Options, ANumberOutOfBoundsIsRefusedWithTheBounds) {
  const std::array<const char*, 3> words{"rankscope-train", "--ranks", "0"};
  const auto line = parse_command_line(3, words.data());
  ASSERT_FALSE(line);
  EXPECT_THAT(line.error().message, HasSubstr("--ranks must be a whole number from 1 to 4096 (is \"0\")"));
}

TEST(Options, TheListForAnotherHelpHasNoUsageAndNoHead) {
  const std::string list = text_for("--help-options");
  EXPECT_THAT(list, HasSubstr("Options of the trainer:"));
  EXPECT_THAT(list, HasSubstr("--fault"));
  for (const char* words : {"Usage", "--version", "--help", "Trains a model"}) EXPECT_THAT(list, Not(HasSubstr(words)));
}

TEST(Options, ExplainIsForMain) {
  const std::array<const char*, 2> words{"rankscope-train", "--explain"};
  const auto explaining = parse_command_line(2, words.data());
  const auto training = parse_command_line(1, words.data());
  ASSERT_TRUE(explaining && training);
  EXPECT_TRUE(explaining->explains);
  EXPECT_FALSE(training->explains);
  EXPECT_THAT(text_for("--help"), HasSubstr("--explain"));
}

TEST(Options, ModesAreListedForPrograms) {
  const std::string lines = text_for("--list-modes");
  EXPECT_EQ(std::ranges::count(lines, '\n'), static_cast<std::ptrdiff_t>(all_modes().size()));
  EXPECT_THAT(lines, HasSubstr("\ntile\tany\tcnn\teach image is cut into tiles"));
  EXPECT_THAT(lines, HasSubstr("\nmp\tone\tmlp\t"));
}

TEST(Options, EachModeHasItsOwnDefaultModel) {
  for (const ModeTraits& mode : all_modes()) {
    const std::string name{mode.name};
    const std::array<const char*, 3> words{"rankscope-train", "--parallel", name.c_str()};
    const auto line = parse_command_line(3, words.data());
    ASSERT_TRUE(line) << line.error().message;
    EXPECT_EQ(line->options.mode, &mode);
    EXPECT_EQ(line->options.model.kind, mode.model) << name;
  }
}

TEST(Options, ThatAModeHasNoUseForNameThoseThatHave) {
  const std::array<const char*, 5> words{"rankscope-train", "--parallel", "pp", "--accumulate", "2"};
  const auto line = parse_command_line(5, words.data());
  ASSERT_FALSE(line);
  EXPECT_EQ(
      line.error().message,
      "--accumulate: only for --parallel single, dp, mp, ddp, ddp+mp, zero1, zero2, zero3, tp, tp+sp and tile, not "
      "for pp; a pipeline accumulates gradients over its micro-batches, so use --micro-batches");
}

TEST(Options, RanksThatShareLayersHaveAHeadEach) {
  const std::array<const char*, 3> words{"rankscope-train", "--parallel", "tp"};
  const auto heads = [&](int ranks) {
    auto line = parse_command_line(3, words.data());
    EXPECT_TRUE(line && fit_to_ranks(line->options, ranks));
    return line->options.model.heads;
  };
  EXPECT_EQ(heads(4), 0) << "as the scale has it";
  EXPECT_EQ(heads(8), 8);
  EXPECT_EQ(heads(3), 0) << "refused with the numbers (check_split)";
}

TEST(Options, TheDeviceIsChosenByTheMachineUnlessItIsNamed) {
  const std::array<const char*, 4> words{"rankscope-train", "--device", "cuda", "--share-gpu"};
  const auto unnamed = parse_command_line(1, words.data());
  const auto named = parse_command_line(4, words.data());
  ASSERT_TRUE(unnamed && named);
  EXPECT_EQ(unnamed->options.device.wish, DeviceWish::automatic);
  EXPECT_FALSE(unnamed->options.device.share_gpu);
  EXPECT_EQ(named->options.device.wish, DeviceWish::cuda);
  EXPECT_TRUE(named->options.device.share_gpu);
  EXPECT_THAT(text_for("--help"), HasSubstr("--device auto|cpu|cuda"));
}

}  // namespace
}  // namespace rankscope::trainer
