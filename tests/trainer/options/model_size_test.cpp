#include "rankscope/trainer/options/model_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankscope::trainer {
namespace {

using enum SequenceParallel;

std::string refused(const ModelOptions& options, std::int64_t ranks, SequenceParallel sequence) {
  const auto checked = check_split(options, ranks, sequence);
  EXPECT_FALSE(checked);
  if (!checked) {
    EXPECT_EQ(checked.error().kind, ErrorKind::usage);
  }
  return checked ? "" : checked.error().message;
}

TEST(ModelSize, IsWhatTheOptionsSayOrTheScale) {
  EXPECT_EQ(layers_of({}), 4);
  EXPECT_EQ(mlp_width({}), 256);
  EXPECT_EQ(mlp_width({.hidden = 12}), 12);
  const GptSize tiny = gpt_size({.kind = ModelKind::gpt});
  EXPECT_EQ(tiny.layers, 2);
  EXPECT_EQ(tiny.hidden, 64);
  const GptSize chosen = gpt_size({.kind = ModelKind::gpt, .scale = Scale::full, .layers = 3, .heads = 2});
  EXPECT_EQ(chosen.layers, 3);
  EXPECT_EQ(chosen.heads, 2);
  EXPECT_EQ(chosen.sequence, 128);
}

TEST(ModelSize, OneRankHasEverythingButWhatCannotBeSplit) {
  EXPECT_TRUE(check_split({.kind = ModelKind::gpt, .heads = 3, .sequence = 7}, 1, yes));
  EXPECT_TRUE(check_split({.kind = ModelKind::mlp, .hidden = 7}, 1, no));
}

TEST(ModelSize, TellsWhatRanksCouldShare) {
  const ModelOptions gpt{.kind = ModelKind::gpt};
  EXPECT_TRUE(check_split(gpt, 4, yes));
  EXPECT_EQ(refused(gpt, 16, no), "--heads 4 cannot be shared equally by 16 ranks; give --heads 16");
  EXPECT_EQ(refused(gpt, 8, no), "--heads 4 cannot be shared equally by 8 ranks; give --heads 8");
  EXPECT_EQ(refused({.kind = ModelKind::gpt, .heads = 3}, 3, no),
            "a vocabulary of 256 tokens cannot be shared equally by 3 ranks; use 2, 4 or 8 ranks");
  const ModelOptions short_sequence{.kind = ModelKind::gpt, .sequence = 10};
  EXPECT_TRUE(check_split(short_sequence, 4, no));
  EXPECT_EQ(refused(short_sequence, 4, yes), "--seq 10 cannot be shared equally by 4 ranks; give --seq 8 or 12");
  EXPECT_EQ(refused({.hidden = 10}, 4, no), "--hidden 10 cannot be shared equally by 4 ranks; give --hidden 8 or 12");
}

TEST(ModelSize, NamesTheModelsThatCanBeSplit) {
  EXPECT_EQ(refused({}, 2, yes), "--model mlp has no sequence to split; take --model gpt, or --parallel tp");
  EXPECT_EQ(refused({.kind = ModelKind::resnet18}, 2, no),
            "--model resnet18 has layers that cannot be split; take --model gpt or --model mlp");
  EXPECT_EQ(refused({.kind = ModelKind::resnet50}, 2, yes),
            "--model resnet50 has layers that cannot be split; take --model gpt");
}

}  // namespace
}  // namespace rankscope::trainer
