#include "words/source_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankscope::analyzer {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SourceAdvice, NamesEverythingThatRecordsCollectives) {
  EXPECT_THAT(std::string{advice_for(Wanted::collectives, "rankscope")},
              AllOf(HasSubstr("PyTorch's groups on Gloo"), HasSubstr("NCCL's profiler interface"),
                    HasSubstr("annotation API"), Not(HasSubstr("NVTX"))));
}

TEST(SourceAdvice, OnGlooIsNotThatForNcclOrGpus) {
  for (const Wanted wanted : {Wanted::steps, Wanted::time_of_ranks, Wanted::all_ranks, Wanted::absent_ranks,
                              Wanted::collectives, Wanted::comparison}) {
    const std::string advice{advice_for(wanted, kineto_on_gloo)};
    EXPECT_THAT(advice, Not(AnyOf(HasSubstr("CUDA"), HasSubstr("NCCL")))) << static_cast<int>(wanted);
    EXPECT_NE(advice, "");
  }
  const std::string groups{advice_for(Counter::no_comm_args, kineto_on_gloo)};
  EXPECT_THAT(groups, AllOf(HasSubstr("`rankscope record`"), Not(HasSubstr("CUDA")), Not(HasSubstr("NCCL"))));
  EXPECT_THAT(std::string{advice_for(Counter::no_comm_args, "kineto")}, HasSubstr("NCCL"));
}

}  // namespace
}  // namespace rankscope::analyzer
