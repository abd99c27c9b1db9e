#include "rankscope/trainer/options/sequence_lengths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace rankscope::trainer {
namespace {

std::vector<std::int64_t> lengths(const char* text, std::uint64_t seed = 1) {
  const SequenceLengths drawn = parse_sequence_lengths(text).value();
  std::vector<std::int64_t> all;
  for (std::uint64_t sample = 0; sample < 2000; ++sample) all.push_back(drawn.length_of(sample, seed, 64));
  return all;
}

TEST(SequenceLengths, AreThoseOfTheSequenceUnlessTold) {
  EXPECT_EQ(lengths("full"), std::vector<std::int64_t>(2000, 64));
  EXPECT_FALSE(parse_sequence_lengths("full")->vary());
}

TEST(SequenceLengths, UniformOnesReachBothEndsAndNoFurther) {
  const auto all = lengths("uniform:8-24");
  EXPECT_EQ(std::ranges::min(all), 8);
  EXPECT_EQ(std::ranges::max(all), 24);
  EXPECT_NEAR(static_cast<double>(std::ranges::count_if(all, [](auto length) { return length <= 15; })), 941, 100);
}

TEST(SequenceLengths, LognormalOnesHaveTheirMedianAndEndAtTheSequence) {
  auto all = lengths("lognormal:20,0.8");
  std::ranges::sort(all);
  EXPECT_NEAR(static_cast<double>(all[1000]), 20, 2);
  EXPECT_NEAR(static_cast<double>(all[1682]), 20 * 2.2255, 5) << "one sigma above";
  EXPECT_GE(all.front(), 1);
  EXPECT_EQ(all.back(), 64);
}

TEST(SequenceLengths, DependOnSampleAndSeedAlone) {
  EXPECT_EQ(lengths("uniform:1-64"), lengths("uniform:1-64"));
  EXPECT_NE(lengths("uniform:1-64"), lengths("uniform:1-64", 2));
}

TEST(SequenceLengths, ReadBackWhatTheyAreWrittenAs) {
  for (const char* text : {"full", "uniform:8-24", "lognormal:20,0.8"})
    EXPECT_EQ(text_of(parse_sequence_lengths(text).value()), text);
}

class BadSequenceLengths : public ::testing::TestWithParam<const char*> {};
TEST_P(BadSequenceLengths, AreRefusedWithTheFormsThereAre) {
  const auto refused = parse_sequence_lengths(GetParam());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_NE(refused.error().message.find("uniform:SHORTEST-LONGEST"), std::string::npos) << refused.error().message;
}
INSTANTIATE_TEST_SUITE_P(Texts, BadSequenceLengths,
                         ::testing::Values("", "uniform", "uniform:", "uniform:9-3", "uniform:0-3", "uniform:3",
                                           "uniform:1-65537", "uniform:1-2x", "lognormal:20", "lognormal:0,1",
                                           "lognormal:20,0", "lognormal:20,5", "lognormal:nan,1", "lognormal:20,nan",
                                           "normal:3,4", "uniform:99999999999999999999-3"));

}  // namespace
}  // namespace rankscope::trainer
