#include "rankscope/trainer/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace rankscope::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text_for(const char* option) {
  const std::array<const char*, 2> words{"rankscope-train", option};
  const auto line = parse_command_line(2, words.data(), "ddp");
  return line && line->text ? *line->text : "";
}

TEST(Options, HelpNamesTheDefaults) {
  const std::string help = text_for("--help");
  EXPECT_THAT(help, HasSubstr("Usage: rankscope-train"));
  for (const char* words : {"--seed UINT=1", "--timeout FLOAT:FLOAT in [1 - 86400]=30", "--pace TEXT=auto",
                            "0.05 for sgd, 0.001 for adamw", "default: by --scale"})
    EXPECT_THAT(help, HasSubstr(words));
}

TEST(Options, TheListForAnotherHelpHasNoUsageAndNoHead) {
  const std::string list = text_for("--help-options");
  EXPECT_THAT(list, HasSubstr("Options of the trainer:"));
  EXPECT_THAT(list, HasSubstr("--fault"));
  for (const char* words : {"Usage", "--version", "--help", "Trains a model"}) EXPECT_THAT(list, Not(HasSubstr(words)));
}

TEST(Options, ExplainIsForMain) {
  const std::array<const char*, 2> words{"rankscope-train", "--explain"};
  const auto explaining = parse_command_line(2, words.data(), "ddp");
  const auto training = parse_command_line(1, words.data(), "ddp");
  ASSERT_TRUE(explaining && training);
  EXPECT_TRUE(explaining->explains);
  EXPECT_FALSE(training->explains);
  EXPECT_THAT(text_for("--help"), HasSubstr("--explain"));
}

TEST(Options, TheDeviceIsChosenByTheMachineUnlessItIsNamed) {
  const std::array<const char*, 4> words{"rankscope-train", "--device", "cuda", "--share-gpu"};
  const auto unnamed = parse_command_line(1, words.data(), "ddp");
  const auto named = parse_command_line(4, words.data(), "ddp");
  ASSERT_TRUE(unnamed && named);
  EXPECT_EQ(unnamed->options.device.wish, DeviceWish::automatic);
  EXPECT_FALSE(unnamed->options.device.share_gpu);
  EXPECT_EQ(named->options.device.wish, DeviceWish::cuda);
  EXPECT_TRUE(named->options.device.share_gpu);
  EXPECT_THAT(text_for("--help"), HasSubstr("--device auto|cpu|cuda"));
}

}  // namespace
}  // namespace rankscope::trainer
