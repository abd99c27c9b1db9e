// A process whose main thread has ended lives as long as its other threads, and not as long as those of the recorder.
#include <gtest/gtest.h>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

struct SamplingThreads {
  std::string name;
  std::string collect;
  std::string pm_sampling{};
};

class LastThread : public ::testing::TestWithParam<SamplingThreads> {};

/// A program on a GPU, with stand-ins for the libraries from which the threads of the recorder sample.
TEST_P(LastThread, OfTheProgramEndsIt) {
  SKIP_UNDER_THREAD_SANITIZER("ThreadSanitizer has a thread of its own in each process, which keeps it alive");
  const Folder folder;
  const Variable cupti{"RANKSCOPE_CUPTI", program("libcupti_standin.so")};
  const Variable driver{"RANKSCOPE_CUDA", program("libcupti_standin.so")};
  const Variable nvml{"RANKSCOPE_NVML", program("libnvml_standin.so")};
  RecordOptions options{.command = {"timeout", "-s", "KILL", "5", program("cupti_actor"), "last thread"}};
  options.collect = GetParam().collect;
  options.pm_sampling = GetParam().pm_sampling;
  options.sample_hz = 0.01;  // nobody waits for the next sample
  const Recorded recorded = record(folder, options);
  EXPECT_EQ(recorded.status, 0) << "137: it was kept alive";
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.run->processes()[0].ending, Ending::exited) << "by the C library";
}

INSTANTIATE_TEST_SUITE_P(Every, LastThread,
                         ::testing::Values(SamplingThreads{"housekeeping", "annotate"},
                                           SamplingThreads{"cupti", "annotate,cupti"},
                                           SamplingThreads{"nvml", "annotate,nvml"},
                                           SamplingThreads{"pm", "annotate,pm", "1000"},
                                           SamplingThreads{"all", "annotate,host,cupti,nvml,pm", "1000"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace rankscope::collectors
