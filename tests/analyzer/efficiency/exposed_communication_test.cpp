#include <gmock/gmock.h>

#include <algorithm>

#include "analyzer/synthetic_run.h"
#include "efficiency/exposed_operation.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Two ranks: per step 0.4 ms of work, then 0.6 ms of an operation. Rank 1 counts its operations from that number on.
std::optional<Finding> finding_of(std::string_view op, std::int64_t second_rank_from = 0) {
  std::string text = "@run clock=same_host\n@group dp 0,1\n";
  for (const int rank : {0, 1})
    for (int step = 0; step < 6; ++step) {
      const int begin = step * 1'000'000;
      text += format("{} step {} {} step index={}\n{} op {} {} work\n", rank, begin, begin + 1'000'000, step, rank,
                     begin, begin + 400'000);
      text += format("{} comm {} {} {} group=dp seq={}\n", rank, begin + 400'000, begin + 1'000'000, op,
                     step + rank * second_rank_from);
    }
  const Report report = analyze(*testing::run_of(text), {});
  const auto found = std::ranges::find(*report.findings, "exposed_communication", &Finding::id);
  if (found == report.findings->end()) return std::nullopt;
  return *found;
}

TEST(ExposedCommunication, AdviceFitsTheOperationThatHasMostOfIt) {
  EXPECT_THAT(finding_of("allreduce")->advice, HasSubstr("buckets"));
  EXPECT_THAT(finding_of("reduce_scatter")->advice, HasSubstr("buckets"));
  EXPECT_THAT(finding_of("allgather")->advice, HasSubstr("prefetch"));
  for (const char* op : {"alltoall", "broadcast"}) {
    const std::string advice = finding_of(op)->advice;
    EXPECT_THAT(advice, Not(HasSubstr("buckets"))) << op;
    EXPECT_THAT(advice, Not(HasSubstr("gradient"))) << op;
  }
  EXPECT_THAT(finding_of("alltoall")->advice, HasSubstr("chunks"));
  EXPECT_EQ(finding_of("alltoall")->cause, "most of it is all-to-all, 600 µs per step and rank");
}

TEST(ExposedCommunication, OfOperationsWithoutPartnersIsMeasuredOnTheRankItself) {
  const auto finding = finding_of("allreduce", 100);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->severity, FindingSeverity::critical);
  EXPECT_THAT(finding->advice, HasSubstr("operations were not matched"));
}

TEST(ExposedCommunication, DoesNotRepeatTheAdviceOnRanksThatAreMissing) {
  std::string text = "@run clock=same_host world_size=8\n@group tp 0,1,2,3,4,5,6,7\n";
  for (int step = 0; step < 6; ++step) {
    const int begin = step * 1'000'000;
    text += format("0 step {} {} step index={}\n0 op {} {} work\n0 comm {} {} allreduce group=tp seq={}\n", begin,
                   begin + 1'000'000, step, begin, begin + 380'000, begin + 380'000, begin + 1'000'000, step);
  }
  const Report report = analyze(*testing::run_of(text), {});
  const Finding& finding = report.findings->front();
  ASSERT_EQ(finding.id, "exposed_communication");
  EXPECT_EQ(finding.severity, FindingSeverity::critical) << "62 % of the time";
  EXPECT_THAT(finding.evidence, HasSubstr("it is not known how much of it is waiting and how much is transfer"));
  EXPECT_THAT(finding.advice, Not(HasSubstr("Record all ranks")));
  EXPECT_THAT(finding.advice,
              HasSubstr("gradient accumulation), unless this is mostly waiting for ranks that were not recorded."));
}

TEST(ExposedOperation, IsKnownByTheNamesOfCollectivesAndKernels) {
  const auto name = [](std::string_view text) { return operation_named(text).name; };
  EXPECT_EQ(name("all_reduce"), "all-reduce");
  EXPECT_EQ(name("allreduce_coalesced"), "all-reduce");
  EXPECT_EQ(name("_reduce_scatter_base"), "reduce-scatter");
  EXPECT_EQ(name("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"), "all-gather");
  EXPECT_EQ(name("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"), "send and receive");
  EXPECT_EQ(name("all_to_allv"), "all-to-all");
  EXPECT_EQ(name("void deep_ep::internode::dispatch<false, 4, true>(int4*, float*)"), "dispatch and combine");
  EXPECT_EQ(name("ncclDevKernel_Generic(ncclDevComm*, unsigned long, ncclWork*)"), "");
  EXPECT_EQ(name("(host waits)"), "");
}

TEST(ExposedOperation, WithTheMostExposedTimeIsASumOverGroupsAndKernels) {
  OverlapSection section;
  section.rows = {{.group = "tp", .op = "allgather", .comm_ns = 50},
                  {.group = "dp", .op = "allreduce", .comm_ns = 90, .overlapped_ns = 50},
                  {.group = "pp", .op = "allreduce", .comm_ns = 30}};
  EXPECT_EQ(most_exposed(section).name, "all-reduce");
  EXPECT_EQ(most_exposed(section).exposed_ns, 70);
}

}  // namespace
}  // namespace rankscope::analyzer
