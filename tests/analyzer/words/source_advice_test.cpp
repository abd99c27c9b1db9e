#include "words/source_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankscope::analyzer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SourceAdvice, NamesEverythingThatRecordsCollectives) {
  EXPECT_THAT(std::string{advice_for(Wanted::collectives, "rankscope")},
              AllOf(HasSubstr("PyTorch's groups on Gloo"), HasSubstr("NCCL's profiler interface"),
                    HasSubstr("annotation API"), Not(HasSubstr("NVTX"))));
}

}  // namespace
}  // namespace rankscope::analyzer
