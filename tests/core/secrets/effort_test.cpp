// Strings that somebody made so that looking for secrets in them takes long.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "rankscope/core/secrets.h"

namespace rankscope {
namespace {

std::string repeated(std::string_view part, std::size_t bytes) {
  std::string text;
  while (text.size() + part.size() <= bytes) text += part;
  return text;
}

std::int64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// The least CPU time of several tries.
double effort_of(const std::string& text) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 5; ++i) {
    std::string copy = text;
    const std::int64_t begin = cpu_ns();
    hide_secrets(copy);
    least = std::min(least, cpu_ns() - begin);
  }
  return static_cast<double>(std::max<std::int64_t>(1, least));
}

TEST(EffortForSecrets, GrowsAsTheLengthOfTheString) {
  constexpr std::size_t large = 64 << 10;
  constexpr std::size_t times = 16;
  for (const char* part : {"x@y://",
                           "://a",
                           "token=",
                           "token=[",
                           "token={",
                           "token='",
                           "token=\\\"",
                           "token=a,",
                           "key=1",
                           "key=[",
                           "-----BEGIN PRIVATE KEY ",
                           "-----BEGIN PRIVATE KEY-----",
                           "eyJ.",
                           "eyJa/",
                           "sk-",
                           "Authorization: Bearer ",
                           "x://y:z",
                           "a: ",
                           "password ",
                           "--token ",
                           "\"token\": ",
                           "[",
                           "hf_",
                           "login -p "}) {
    const double small = effort_of(repeated(part, large / times));
    // A square would be 256 times as much.
    EXPECT_LT(effort_of(repeated(part, large)) / small, 4 * times) << part;
  }
}

TEST(EffortForSecrets, DoesNotLeaveOutTheEndOfALongValue) {
  std::string text = "token=" + repeated("token=abc1", 64 << 10) + " after";
  hide_secrets(text);
  EXPECT_EQ(text.substr(text.size() - 12), "****** after");
  EXPECT_EQ(text.find("abc1"), std::string::npos);
}

}  // namespace
}  // namespace rankscope
