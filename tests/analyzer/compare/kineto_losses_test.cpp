// What traces of PyTorch say of their losses is asked for before they are compared (metrics.md 17.4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/importers/kineto/trace_text.h"
#include "rankscope/analyzer/compare/compare.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::AllOf;
using testing::complete;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::op;

/// Steps of 10 ms, each with an operator.
std::string trace_of(int rank, int steps, std::string_view members = "") {
  std::string events;
  for (int step = 0; step < steps; ++step) {
    const int begin = step * 10'000;
    events += step == 0 ? "" : ",";
    events += complete("user_annotation", format("ProfilerStep#{}", step),
                       format(R"("pid": 7, "tid": 7, "dur": 10000, "ts": {})", begin));
    events += "," + op("aten::mm", begin + 10, 9'000);
  }
  return format(
      R"({{"baseTimeNanoseconds": 1700000000000000000, "distributedInfo": {{"rank": {}, "world_size": 2}},{} "traceEvents": [{}]}})",
      rank, members, events);
}

RunDigest digest_of_traces(const std::string& second, std::string label) {
  const testing::TraceFolder folder;
  folder.write("rank0.json", trace_of(0, 14));
  if (!second.empty()) folder.write("rank1.json", second);
  const auto run = folder.open();
  EXPECT_TRUE(run) << run.error().message;
  return digest(**run, {}, {std::move(label), "traces"});
}

/// Against two whole traces.
Comparison compared_with_whole(const std::string& second, Losses losses = Losses::refused) {
  return compare(digest_of_traces(trace_of(1, 14), "A"), digest_of_traces(second, "B"), losses);
}

TEST(LossesOfTraces, OfWholeOnesAreNone) {
  const Comparison found = compared_with_whole(trace_of(1, 14));
  EXPECT_THAT(found.b.lost, IsEmpty());
  EXPECT_EQ(found.steps.verdict, StepVerdict::unchanged);
}

TEST(LossesOfTraces, AreNamedAndNotJudgedUnlessAccepted) {
  const std::string whole = trace_of(1, 14);
  const std::string cut = whole.substr(0, whole.find("ProfilerStep#12"));
  const std::string with_warning = trace_of(1, 14, R"( "WARNING": ["WARNING:2026 Dropped 12 activity records"],)");
  for (const auto& [second, words] :
       {std::pair{trace_of(1, 11), "rank 1 lacks 3 steps (11 to 13) that other ranks have"},
        std::pair{cut, "1 trace file of rank 1 was cut off"},
        std::pair{with_warning, "1 message of rank 1 was written by the profiler about lost or possibly lost events"},
        std::pair{std::string{}, "rank 1 (of 2) was not recorded"}}) {
    const Comparison refused = compared_with_whole(second);
    EXPECT_EQ(refused.steps.verdict, StepVerdict::cannot_tell) << words;
    EXPECT_THAT(refused.steps.why, AllOf(HasSubstr("B is not intact: "), HasSubstr(words)));
    EXPECT_EQ(compared_with_whole(second, Losses::accepted).steps.verdict, StepVerdict::unchanged) << words;
  }
}

}  // namespace
}  // namespace rankscope::analyzer
