#include "rankscope/core/numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace rankscope {
namespace {

using ::testing::Eq;
using ::testing::Optional;

TEST(Numbers, TheWholeTextMustBeTheNumber) {
  EXPECT_THAT(number_from<int>("42"), Optional(42));
  EXPECT_THAT(number_from<int>("-7"), Optional(-7));
  EXPECT_THAT(number_from<std::int64_t>("9223372036854775807"), Optional(std::numeric_limits<std::int64_t>::max()));
  EXPECT_THAT(number_from<double>("1.5e3"), Optional(1500.0));
  for (const auto* const text : {"", " 42", "42 ", "+42", "4 2", "0x2a", "42s", "4.2", "9223372036854775808"})
    EXPECT_EQ(number_from<std::int64_t>(text), std::nullopt) << text;
}

TEST(Numbers, AnUnsignedNumberIsNotNegative) { EXPECT_EQ(number_from<unsigned>("-1"), std::nullopt); }

TEST(Numbers, ARealNumberIsFinite) {
  for (const auto* const text : {"nan", "inf", "-inf", "1e999", ""})
    EXPECT_EQ(number_from<double>(text), std::nullopt) << text;
}

TEST(Numbers, BothBoundsAreIncluded) {
  constexpr Bounds<int> bounds{.least = 1, .most = 10};
  EXPECT_THAT(number_from("1", bounds), Optional(1));
  EXPECT_THAT(number_from("10", bounds), Optional(10));
  EXPECT_EQ(number_from("0", bounds), std::nullopt);
  EXPECT_EQ(number_from("11", bounds), std::nullopt);
  EXPECT_THAT(number_from<double>("0.5", {.least = 0.5}), Optional(0.5));
  EXPECT_EQ(number_from<double>("0.49", {.least = 0.5}), std::nullopt);
}

TEST(Numbers, AnEmptyViewOfNothingIsNotANumber) { EXPECT_EQ(number_from<int>(std::string_view{}), std::nullopt); }

TEST(Numbers, HexadecimalDigitsHaveNoSignAndNoPrefix) {
  EXPECT_THAT(hex_number_from("00000000a80425fb"), Optional(0xa80425fbU));
  EXPECT_THAT(hex_number_from("FF"), Optional(255U));
  for (const auto* const text : {"", "0x2a", "-1", "2g", "10000000000000000"})
    EXPECT_EQ(hex_number_from(text), std::nullopt) << text;
}

TEST(Numbers, ALeadingNumberEndsWhereItsDigitsDo) {
  EXPECT_THAT(leading_number<int>("535.104.05"), Optional(535));
  EXPECT_THAT(leading_number<int>("3,"), Optional(3));
  EXPECT_EQ(leading_number<int>("x3"), std::nullopt);
  EXPECT_EQ(leading_number<int>("-3", {.least = 0}), std::nullopt);
}

TEST(Numbers, TakingANumberRemovesItFromTheText) {
  std::string_view text = "12-34";
  EXPECT_THAT(take_number<int>(text), Optional(12));
  EXPECT_EQ(text, "-34");
  EXPECT_EQ(take_number<unsigned>(text), std::nullopt);
  EXPECT_EQ(text, "-34");
  EXPECT_THAT(take_number<int>(text), Optional(-34));
  EXPECT_EQ(text, "");
}

TEST(Numbers, AnErrorSaysWhatMustStandThereAndWhatDoes) {
  const auto message = [](const auto& result) { return result.error().message; };
  EXPECT_EQ(message(number_of<int>("--ranks", {.least = 1, .most = 4096}, "x")),
            R"(--ranks must be a whole number from 1 to 4096 (is "x"))");
  EXPECT_EQ(message(number_of<int>("--steps", {.least = 1}, "0")),
            R"(--steps must be a whole number of at least 1 (is "0"))");
  EXPECT_EQ(message(number_of<double>("--peak-tflops", {.least = 0.001, .most = 1e9}, "")),
            "--peak-tflops must be a number from 0.001 to 1000000000 (is empty)");
  EXPECT_EQ(number_of<int>("--ranks", {}, "x").error().kind, ErrorKind::usage);
  EXPECT_THAT(number_of<int>("--ranks", {.least = 1, .most = 4096}, "8"), Eq(8));
}

TEST(Numbers, WordsNameOnlyTheBoundsThatThereAre) {
  EXPECT_EQ(number_words<int>({}), "a whole number");
  EXPECT_EQ(number_words<double>({}), "a number");
  EXPECT_EQ(number_words<int>({.most = 9}), "a whole number of at most 9");
  EXPECT_EQ(number_words<unsigned>({}), "a whole number of at least 0");
  EXPECT_EQ(number_words<unsigned>({.most = 9}), "a whole number from 0 to 9");
  EXPECT_EQ(number_words<double>({.least = 0.5}), "a number of at least 0.5");
}

}  // namespace
}  // namespace rankscope
