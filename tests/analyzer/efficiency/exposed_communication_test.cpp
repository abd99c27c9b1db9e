#include <gmock/gmock.h>

#include <algorithm>
#include <array>

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
  EXPECT_THAT(
      finding.advice,
      HasSubstr("gradient accumulation), unless most of the exposed communication is waiting for ranks that were "
                "not recorded."));
}

/// Four ranks and 20 steps of 100 ms that end in an operation, of which 12 ms are transfer. In each step the host of
/// another rank launches it late, so that the others wait.
Report with_late_hosts(const std::array<int, 4>& compute_ms, const std::string& more = "") {
  std::string text = "@run clock=same_host clock_error=1000\n@group dp 0,1,2,3\n";
  for (int rank = 0; rank < 4; ++rank)
    for (int step = 0; step < 20; ++step) {
      const int begin = step * 100;
      const int computed = begin + compute_ms[static_cast<std::size_t>(rank)];
      text += format("{0} step {1}000000 {2}000000 step index={3}\n{0} op {1}000000 {4}000000 work\n", rank, begin,
                     begin + 100, step, computed);
      text += format("{} comm {}000000 {}000000 allreduce group=dp seq={}\n", rank,
                     step % 4 == rank ? begin + 88 : computed, begin + 100, step);
    }
  return analyze(*testing::run_of(text + more), {});
}

const Finding* exposed(const Report& report) {
  const auto found = std::ranges::find(*report.findings, "exposed_communication", &Finding::id);
  return found == report.findings->end() ? nullptr : &*found;
}

TEST(ExposedCommunication, ASmallImbalanceExplainsNoMoreThanItCosts) {
  const Report report = with_late_hosts({36, 40, 44, 48});
  ASSERT_TRUE(report.stragglers->rows.empty());
  ASSERT_EQ(std::ranges::count(*report.findings, "efficiency.load_balance", &Finding::id), 1);
  ASSERT_NE(exposed(report), nullptr);
  EXPECT_EQ(exposed(report)->severity, FindingSeverity::critical) << "6 of 46.5 % are due to the imbalance";
  EXPECT_THAT(exposed(report)->title, HasSubstr("mostly waiting for other ranks"));
  EXPECT_THAT(exposed(report)->advice, HasSubstr("which ranks arrive last"));
}

TEST(ExposedCommunication, ASlowRankExplainsNoMoreThanTheOthersWaitForIt) {
  const Report report = with_late_hosts({40, 40, 50, 40});
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  ASSERT_NE(exposed(report), nullptr);
  EXPECT_EQ(exposed(report)->severity, FindingSeverity::critical);
  EXPECT_THAT(exposed(report)->advice, HasSubstr("which ranks arrive last"));
}

/// Four ranks and 20 steps of 100 ms: they compute for 40 ms. In each step one of them is late for the operation that
/// ends the step: rank 0 in nine steps by 48 ms, the others in the other steps by 30.
Report mostly_late_for_rank_0() {
  constexpr std::array<int, 20> late{0, 0, 0, 1, 0, 0, 0, 2, 0, 3, 1, 2, 0, 3, 1, 2, 0, 3, 1, 2};
  std::string text = "@run clock=same_host clock_error=1000\n@group dp 0,1,2,3\n";
  for (int rank = 0; rank < 4; ++rank)
    for (int step = 0; step < 20; ++step) {
      const int begin = step * 100;
      const bool is_late = late[static_cast<std::size_t>(step)] == rank;
      const int started = begin + 40 + (!is_late ? 0 : rank == 0 ? 48 : 30);
      text += format("{0} step {1}000000 {2}000000 step index={3}\n{0} op {1}000000 {4}000000 work\n", rank, begin,
                     begin + 100, step, begin + 40);
      text += format("{} comm {}000000 {}000000 allreduce group=dp seq={}\n", rank, started, begin + 100, step);
    }
  return analyze(*testing::run_of(text), {});
}

TEST(ExposedCommunication, NamesTheRankThatCausesMostOfTheWaitingInItsAdvice) {
  const Report report = mostly_late_for_rank_0();
  ASSERT_TRUE(report.stragglers->rows.empty()) << report.stragglers->rows.front().evidence;
  ASSERT_NE(exposed(report), nullptr);
  EXPECT_THAT(exposed(report)->evidence, HasSubstr("of the waiting is due to rank 0 (mainly host)"));
  EXPECT_THAT(exposed(report)->cause, HasSubstr("of the waiting is due to rank 0 (mainly host)"));
  EXPECT_THAT(exposed(report)->advice, HasSubstr("Find out why rank 0 arrives late (mainly host;"));
  EXPECT_THAT(exposed(report)->advice, Not(HasSubstr("which ranks arrive last")));
  EXPECT_EQ(exposed(report)->gain_ns_per_step, report.what_if->replayed_ns - report.what_if->ideal_ns.value_or(0));
}

TEST(ExposedCommunication, OfTwoRanksTheLateOneAsFastAsItsPeerSavesMoreThanEvenWork) {
  const auto run =
      testing::make({.ranks = 2, .steps = 2, .fault = [](testing::StepPlan& step, std::uint32_t rank, std::int64_t) {
                       if (rank == 1) step.forward *= 6;
                     }});
  const Report report = analyze(*run, {});
  ASSERT_TRUE(!report.stragglers || report.stragglers->rows.empty());
  ASSERT_NE(exposed(report), nullptr);
  const WhatIfSection& replay = *report.what_if;
  ASSERT_LT(replay.ranks[1].without_rank_ns.value(), replay.ideal_ns.value());
  EXPECT_EQ(exposed(report)->gain_ns_per_step, replay.replayed_ns - *replay.ranks[1].without_rank_ns);
}

/// Totals of the connections around a ring. On that of rank 2 data waits in 15 of 100 ms.
std::string slow_connection_of_rank_2() {
  std::string text;
  for (int rank = 0; rank < 4; ++rank)
    for (int step = 0; step <= 20; ++step) {
      const int next = (rank + 1) % 4;
      const auto counter = [&](std::string_view which, double value) {
        return format("{0} counter {1}00000000 {2} \"tcp 10.0.0.{0}:400{0} to 10.0.0.{3}:400{3} {4}\"\n", rank, step,
                      value, next, which);
      };
      text += counter("sent_bytes", 2e6 * step) + counter("backlog_bytes", rank == 2 ? 2e6 * step : 0) +
              counter("backlog_seconds", rank == 2 ? 0.015 * step : 0);
    }
  return text;
}

TEST(ExposedCommunication, ASlowConnectionExplainsNoMoreThanItCosts) {
  const Report report = with_late_hosts({40, 40, 40, 40}, slow_connection_of_rank_2());
  ASSERT_EQ(report.tcp_links->slow.size(), 1U);
  EXPECT_EQ(report.tcp_links->slow.front().cost_ns, 12'000'000);
  ASSERT_NE(exposed(report), nullptr);
  EXPECT_EQ(exposed(report)->severity, FindingSeverity::critical) << "12 of 48 % are due to the connection";
  EXPECT_THAT(exposed(report)->advice, HasSubstr("slow connection first"));
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
