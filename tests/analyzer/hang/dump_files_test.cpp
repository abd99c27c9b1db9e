#include "hang/dump_files.h"

#include <gtest/gtest.h>

namespace rankscope::analyzer::hang {
namespace {

TEST(FileTimes, AreNanosecondsSince1970) {
  EXPECT_EQ(unix_ns_of({.tv_sec = 3, .tv_nsec = 7}), 3'000'000'007);
  EXPECT_EQ(unix_ns_of({.tv_sec = 9'223'372'035, .tv_nsec = 999'999'999}), 9'223'372'035'999'999'999);
}

TEST(FileTimes, ThatNanosecondsCannotTellAreTheNearestOnes) {
  EXPECT_EQ(unix_ns_of({.tv_sec = 9'223'372'037, .tv_nsec = 0}), INT64_MAX) << "the year 2262";
  EXPECT_EQ(unix_ns_of({.tv_sec = 18'446'744'175, .tv_nsec = 0}), INT64_MAX) << "would be 1970 again";
  EXPECT_EQ(unix_ns_of({.tv_sec = INT64_MAX, .tv_nsec = 999'999'999}), INT64_MAX);
  EXPECT_EQ(unix_ns_of({.tv_sec = -1, .tv_nsec = 5}), 0) << "not known";
}

}  // namespace
}  // namespace rankscope::analyzer::hang
