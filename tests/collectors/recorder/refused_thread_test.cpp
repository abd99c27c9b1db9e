// A process in which the recorder gets no thread at first, as at a limit on threads.
#include <gtest/gtest.h>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

TEST(RefusedThread, IsAskedForAgainAndCounted) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer starts threads in its own way";
#endif
  const Folder folder;
  const Recorded recorded = record(folder, std::vector<std::string>{program("thread_refuser")});
  EXPECT_EQ(recorded.status, 0) << "3: the recorder did not ask again";
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "event"), 2U);
  EXPECT_EQ(lost(*recorded.run, Counter::recorder_threads_refused), 1U);
}

}  // namespace
}  // namespace rankscope::collectors
