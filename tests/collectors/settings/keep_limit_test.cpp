#include "rankscope/collectors/keep.h"

#include <gtest/gtest.h>

namespace rankscope::collectors {
namespace {

constexpr std::int64_t second = 1'000'000'000;

KeepLimit limit_of(std::string_view text) {
  const auto limit = keep_limit_from(text);
  EXPECT_TRUE(limit) << text;
  return limit.value_or(KeepLimit{});
}

TEST(KeepLimit, IsAPeriod) {
  EXPECT_EQ(limit_of("90s").period, nanoseconds{90 * second});
  EXPECT_EQ(limit_of("10m").period, nanoseconds{600 * second});
  EXPECT_EQ(limit_of("2h").period, nanoseconds{7200 * second});
  EXPECT_EQ(limit_of("1d").period, nanoseconds{86400 * second});
  EXPECT_FALSE(limit_of("10m").bytes);
}

TEST(KeepLimit, IsASize) {
  EXPECT_EQ(limit_of("500MiB").bytes, std::uint64_t{500} << 20);
  EXPECT_EQ(limit_of("4GiB").bytes, std::uint64_t{4} << 30);
  EXPECT_EQ(limit_of("1TiB").bytes, std::uint64_t{1} << 40);
  EXPECT_FALSE(limit_of("4GiB").period);
}

TEST(KeepLimit, IsBoth) {
  const KeepLimit both{.period = nanoseconds{600 * second}, .bytes = std::uint64_t{4} << 30};
  EXPECT_EQ(limit_of("10m,4GiB"), both);
  EXPECT_EQ(limit_of("4GiB,10m"), both);
}

TEST(KeepLimit, OtherTextsAreRefusedInOneSentence) {
  for (const std::string_view text :
       {"", "10", "m", "10 m", "0m", "-1m", "1.5h", "10min", "4GB", "4gib", "1MiB", "10m,", ",10m", "10m,5m",
        "4GiB,5GiB", "10m,4GiB,1h", "9999999999999999999d", "400d", "2000000TiB"}) {
    const auto limit = keep_limit_from(text);
    ASSERT_FALSE(limit) << text;
    EXPECT_EQ(limit.error().kind, ErrorKind::usage);
    EXPECT_EQ(limit.error().message.rfind("--keep must be ", 0), 0U) << limit.error().message;
    EXPECT_NE(limit.error().message.find("(is \"" + std::string{text} + "\")"), std::string::npos);
  }
}

TEST(KeepLimit, SizesAreWrittenWithTheirUnit) {
  EXPECT_EQ(gib_text(std::uint64_t{500} << 20), "500 MiB");
  EXPECT_EQ(gib_text(std::uint64_t{4} << 30), "4.0 GiB");
}

}  // namespace
}  // namespace rankscope::collectors
