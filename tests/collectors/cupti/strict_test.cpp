// Where CUPTI is stricter than one would like: open kernels, buffers of each thread, profilers that take over.
#include <gmock/gmock.h>

#include "cupti/play.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST(StrictCupti, AnOpenKernelIsRecordedOnceItHasEnded) {
  for (const char* version : {"28", "130001"}) {
    const Folder folder;
    const Recorded recorded = play(folder, "open kernel", {.version = version});
    EXPECT_EQ(recorded.status, 0) << version;
    ASSERT_TRUE(recorded.run) << recorded.why;
    EXPECT_EQ(spans_named(*recorded.run, "open"), 1U) << version;
    EXPECT_EQ(spans_named(*recorded.run, "beside"), 1U) << version;
    EXPECT_EQ(lost(*recorded.run, Counter::times_unusable), 0U);
  }
}

TEST(StrictCupti, AKernelThatNeverEndsIsCountedAndThoseBesideItAreRecorded) {
  const Folder folder;
  const Recorded recorded = play(folder, "never finished");
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "open"), 0U);
  EXPECT_EQ(spans_named(*recorded.run, "beside"), 1U);
  EXPECT_EQ(lost(*recorded.run, Counter::times_unusable), 1U);
}

TEST(StrictCupti, AThreadWithAnOpenKernelHoldsBackNoOtherThread) {
  const auto recorded_of = [](const char* version) {
    const Folder folder;
    const Recorded recorded = play(folder, "threads apart", {.version = version});
    EXPECT_EQ(recorded.status, 128 + 9);
    return recorded.run ? spans_named(*recorded.run, "of another thread") : 99;
  };
  EXPECT_EQ(recorded_of("130001"), 1U);
  EXPECT_EQ(recorded_of("28"), 0U) << "before CUDA 13, all threads share a buffer: it is lost with the process";
}

TEST(StrictCupti, AProfilerThatTakesEverythingOrEndsCuptiIsNoticedAndCrashesNothing) {
  const Variable driver{"RANKSCOPE_CUDA", program("libcupti_standin.so")};
  for (const char* scene : {"taken entirely", "finalized"}) {
    const Folder folder;
    const Recorded recorded = play(folder, scene);
    EXPECT_EQ(recorded.status, 0) << scene;
    ASSERT_TRUE(recorded.run) << recorded.why;
    EXPECT_THAT(std::string{told(*recorded.run, "cupti_problem")},
                HasSubstr("another profiler in the process has taken the records of CUPTI"))
        << scene;
    EXPECT_EQ(spans_named(*recorded.run, "before"), 1U) << scene;
  }
}

}  // namespace
}  // namespace rankscope::collectors
