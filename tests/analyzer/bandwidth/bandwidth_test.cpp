#include "bandwidth/parts.h"

#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "collectives/operation_speed.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "split/rank_rows.h"
#include "split/row_sums.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

Section<BandwidthSection> bandwidth_of(std::string_view text, const ReportOptions& options = {}) {
  const auto run = run_of(text);
  const ClockTrust clocks{*run};
  const Matching matching = match_collectives(*run, clocks);
  const auto steps = find_steps(*run, clocks, options).section;
  return find_bandwidth(*run, clocks, steps, split_ranks(*run, steps, matching, options), matching, options);
}

TEST(Bandwidth, IsOfOperationsOfSimilarSize) {
  const auto section = bandwidth_of(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 comm 0 20000 allreduce group=dp seq=1 bytes=40000\n1 comm 10000 20000 allreduce group=dp seq=1 bytes=40000\n"
      "0 comm 30000 40000 allreduce group=dp seq=2 bytes=40000\n"
      "1 comm 30000 40000 allreduce group=dp seq=2 bytes=40000\n"
      "0 comm 50000 150000 allreduce group=dp seq=3 bytes=4000000\n"
      "1 comm 50000 150000 allreduce group=dp seq=3 bytes=4000000\n");
  ASSERT_TRUE(section) << section.error().why;
  ASSERT_EQ(section->rows.size(), 2U);
  const BandwidthRow& small = section->rows[0];
  EXPECT_EQ(small.size.from_bytes, 30'000);
  EXPECT_EQ(small.size.below_bytes, 100'000);
  EXPECT_EQ(small.measured, 2);
  EXPECT_DOUBLE_EQ(*small.algbw_gbps, 4);
  EXPECT_DOUBLE_EQ(*small.busbw_gbps, 4) << "2(g - 1)/g is 1 for two ranks";
  EXPECT_DOUBLE_EQ(*small.busbw_with_waiting_gbps, 80'000.0 / 25'000) << "medians of 15 and 10 us";
  EXPECT_DOUBLE_EQ(*section->rows[1].busbw_gbps, 40);
}

TEST(Bandwidth, LeavesOutWhatIsTooShortAndWhatSetsUpConnections) {
  const auto section = bandwidth_of(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 comm 0 20000 allreduce group=dp seq=0 bytes=40000\n1 comm 0 20000 allreduce group=dp seq=0 bytes=40000\n"
      "0 comm 30000 34000 allreduce group=dp seq=1 bytes=40000\n"
      "1 comm 30000 34000 allreduce group=dp seq=1 bytes=40000\n");
  const BandwidthRow& row = section->rows.at(0);
  EXPECT_EQ(row.count, 2);
  EXPECT_EQ(row.measured, 0);
  EXPECT_EQ(row.setting_up, 1);
  EXPECT_EQ(row.too_short, 1);
  EXPECT_FALSE(row.busbw_gbps);
  EXPECT_EQ(row.why_none, "the transfer was too short to measure");
}

TEST(Bandwidth, AFirstOperationInATraceIsNotThatOfItsCommunicator) {
  const auto first_of = [](std::string_view source, std::string_view sequence) {
    const auto run = run_of(
        format("@run source={} clock=same_host\n@group dp 0,1\n0 comm 0 9 allreduce group=dp {}\n1 comm 0 9 allreduce "
               "group=dp {}\n",
               source, sequence, sequence));
    return sets_up_connections(*run, match_collectives(*run, ClockTrust{*run}).section->operations.at(0));
  };
  EXPECT_TRUE(first_of("rankscope", "seq=0"));
  EXPECT_FALSE(first_of("rankscope", "seq=1"));
  EXPECT_FALSE(first_of("kineto", "seq=-1")) << "the trace began later";
  EXPECT_FALSE(first_of("kineto", "seq=7"));
  EXPECT_TRUE(first_of("kineto", "seq=1")) << "PyTorch counts from 1";
  EXPECT_TRUE(first_of("nsys", "seq=-1")) << "its communicator was made in the recording";
  EXPECT_FALSE(first_of("nsys", "seq=0")) << "a guessed group";
}

TEST(Bandwidth, TrafficIsWhatIsSentFromRankToRank) {
  const auto section = bandwidth_of(
      "@run clock=same_host world_size=3\n@group pp 0,1,2\n@group dp 0,1\n"
      "0 comm 0 10000 send group=pp peer=1 bytes=50000\n1 comm 0 10000 recv group=pp peer=0 bytes=50000\n"
      "0 comm 20000 30000 send group=pp peer=1 bytes=50000\n1 comm 20000 30000 recv group=pp peer=0 bytes=50000\n"
      "1 comm 40000 50000 recv group=pp peer=2 bytes=7\n"
      "0 comm 60000 70000 allreduce group=dp bytes=1000\n1 comm 60000 70000 allreduce group=dp bytes=1000\n");
  ASSERT_TRUE(section) << section.error().why;
  ASSERT_EQ(section->traffic.size(), 2U);
  EXPECT_EQ(section->traffic[0].from, RankId{0});
  EXPECT_EQ(section->traffic[0].to, RankId{1});
  EXPECT_EQ(section->traffic[0].bytes, 100'000);
  EXPECT_EQ(section->traffic[0].count, 2);
  EXPECT_DOUBLE_EQ(section->traffic[0].gbps.value_or(0), 5);
  EXPECT_EQ(section->traffic[1].from, RankId{2}) << "told by its receiver, since it was not recorded";
  ASSERT_EQ(section->margins.size(), 3U);
  EXPECT_EQ(section->margins[0].sent_bytes, 100'000);
  EXPECT_EQ(section->margins[1].received_bytes, 100'007);
  EXPECT_EQ(section->margins[1].collective_bytes, 1000);
}

TEST(Bandwidth, HostileSizesDoNotOverflow) {
  std::string text = "@run clock=same_host\n@group pp 0,1\n";
  for (int i = 0; i < 4; ++i)
    text += format(
        "0 comm {} {} send group=pp peer=1 bytes=4611686018427387904\n1 comm {} {} recv group=pp peer=0 "
        "bytes=4611686018427387904\n",
        i * 20'000, i * 20'000 + 10'000, i * 20'000, i * 20'000 + 10'000);
  const auto section = bandwidth_of(text);
  EXPECT_EQ(section->traffic.at(0).bytes, std::numeric_limits<std::int64_t>::max());
}

TEST(Bandwidth, WithoutSizesThereIsNone) {
  EXPECT_FALSE(
      bandwidth_of("@run clock=same_host\n@group dp 0,1\n"
                   "0 comm 0 9000 allreduce group=dp\n1 comm 0 9000 allreduce group=dp\n"));
}

/// Four groups of two ranks each with 30 operations of 100 us, of which `slow_ns` tells how long they take.
template <class SlowNs>
std::string groups_of_two(SlowNs slow_ns) {
  std::string text = "@run clock=same_host\n@group a 0,1\n@group b 2,3\n@group c 4,5\n@group d 6,7\n";
  for (int operation = 0; operation < 30; ++operation) {
    for (int rank = 0; rank < 8; ++rank) {
      const std::int64_t begin = operation * 1'000'000;
      if (operation % 10 == 0)
        text += format("{} step {} {} step index={}\n", rank, begin, begin + 9'999'999, operation / 10);
      text += format("{} comm {} {} allreduce group={} seq={} bytes=1000000\n", rank, begin,
                     begin + slow_ns(rank / 2, operation), static_cast<char>('a' + rank / 2), operation + 1);
    }
  }
  return text;
}

TEST(Bandwidth, AGroupSlowerThanItsLikeIsFound) {
  const auto section = bandwidth_of(groups_of_two([](int group, int) { return group == 2 ? 200'000 : 100'000; }));
  ASSERT_EQ(section->slow.size(), 1U);
  const SlowPath& slow = section->slow[0];
  EXPECT_EQ(slow.kind, SlowPath::Kind::group);
  EXPECT_EQ(slow.name, "c");
  EXPECT_EQ(slow.ranks, (std::vector{RankId{4}, RankId{5}}));
  EXPECT_DOUBLE_EQ(slow.ratio, 0.5);
  EXPECT_EQ(slow.compared, 3U);
  EXPECT_EQ(slow.cost_ns, 30 * 100'000);
}

TEST(Bandwidth, AGroupThatBecameSlowIsFoundWithItsStep) {
  const auto section =
      bandwidth_of(groups_of_two([](int, int operation) { return operation >= 18 ? 200'000 : 100'000; }));
  ASSERT_EQ(section->slow.size(), 4U) << "all of them, so only their own past tells";
  EXPECT_EQ(section->slow[0].since_step, 1);
  EXPECT_EQ(section->slow[0].compared, 0U);
}

TEST(Bandwidth, EqualGroupsWithNoiseAreNotCalledSlow) {
  const auto section = bandwidth_of(
      groups_of_two([](int group, int operation) { return 100'000 + (group * 7919 + operation * 104'729) % 60'000; }));
  EXPECT_TRUE(section->slow.empty());
}

/// All pairs of five ranks send ten times.
template <class SlowNs>
std::string all_pairs(SlowNs slow_ns) {
  std::string text = "@run clock=same_host\n@group pp 0,1,2,3,4\n";
  std::int64_t now = 0;
  for (int operation = 0; operation < 10; ++operation)
    for (int from = 0; from < 5; ++from)
      for (int to = 0; to < 5; ++to) {
        if (from == to) continue;
        const std::int64_t end = now + slow_ns(from, to);
        text += format("{} comm {} {} send group=pp peer={} bytes=1000000\n", from, now, end, to);
        text += format("{} comm {} {} recv group=pp peer={} bytes=1000000\n", to, now, end, from);
        now = end + 1'000;
      }
  return text;
}

TEST(Bandwidth, ASlowCellIsALinkARowItsSenderAndAColumnItsReceiver) {
  const auto link = bandwidth_of(all_pairs([](int from, int to) { return from == 1 && to == 3 ? 400'000 : 100'000; }));
  ASSERT_EQ(link->slow.size(), 1U);
  EXPECT_EQ(link->slow[0].kind, SlowPath::Kind::link);
  EXPECT_EQ(link->slow[0].ranks, (std::vector{RankId{1}, RankId{3}}));
  const auto sender = bandwidth_of(all_pairs([](int from, int) { return from == 1 ? 400'000 : 100'000; }));
  ASSERT_EQ(sender->slow.size(), 1U);
  EXPECT_EQ(sender->slow[0].kind, SlowPath::Kind::sender);
  EXPECT_EQ(sender->slow[0].ranks, std::vector{RankId{1}});
  const auto receiver = bandwidth_of(all_pairs([](int, int to) { return to == 4 ? 400'000 : 100'000; }));
  ASSERT_EQ(receiver->slow.size(), 1U);
  EXPECT_EQ(receiver->slow[0].kind, SlowPath::Kind::receiver);
}

constexpr std::string_view five_ranks =
    "0 op 0 1000 work\n1 op 0 1000 work\n2 op 0 1000 work\n3 op 0 1000 work\n4 op 0 1000 work\n";

/// What the rule reports of this path in this run, where this connection is slow.
std::vector<Finding> judged(std::string_view text, SlowPath path, const SlowTcpLink* connection = nullptr) {
  const auto run = run_of(text);
  Report report;
  report.steps = find_steps(*run, ClockTrust{*run}, {}).section;
  report.bandwidth = BandwidthSection{};
  report.bandwidth->slow.push_back(std::move(path));
  report.tcp_links = TcpLinksSection{};
  if (connection != nullptr) report.tcp_links->slow.push_back(*connection);
  Usual everybody;
  everybody.total.window_ns = 1'000;
  everybody.steps = everybody.ranks = 1;
  const ReportOptions options;
  const RuleContext context{*run, report, options, everybody, everybody, {}, {}};
  std::vector<Finding> findings;
  judge_slow_paths(context, findings);
  return findings;
}

bool is_reported(SlowPath::Kind kind, std::vector<RankId> ranks, const SlowTcpLink& connection) {
  return !judged(five_ranks, {.kind = kind, .ranks = std::move(ranks), .ratio = 0.3, .share = 0.5}, &connection)
              .empty();
}

TEST(Bandwidth, APathIsLeftToTheSlowConnectionOnItAndToNoOther) {
  const SlowTcpLink one_to_three{.from = RankId{1}, .to = RankId{3}};
  const SlowTcpLink all_to_three{.to = RankId{3}};
  EXPECT_FALSE(is_reported(SlowPath::Kind::link, {RankId{1}, RankId{3}}, one_to_three));
  EXPECT_FALSE(is_reported(SlowPath::Kind::link, {RankId{0}, RankId{3}}, all_to_three));
  EXPECT_FALSE(is_reported(SlowPath::Kind::receiver, {RankId{3}}, all_to_three));
  EXPECT_TRUE(is_reported(SlowPath::Kind::link, {RankId{3}, RankId{1}}, one_to_three)) << "the other direction";
  EXPECT_TRUE(is_reported(SlowPath::Kind::link, {RankId{3}, RankId{5}}, all_to_three));
  EXPECT_TRUE(is_reported(SlowPath::Kind::sender, {RankId{1}}, one_to_three)) << "more than that connection is slow";
  EXPECT_TRUE(is_reported(SlowPath::Kind::sender, {RankId{3}}, one_to_three));
}

/// Two ranks, on these hosts, whose group is slow for this share of the time.
std::vector<Finding> judged_group(std::string_view hosts, double share, std::string_view more = {}) {
  return judged(format("{}0 op 0 1000 work\n1 op 0 1000 work\n{}", hosts, more),
                {.kind = SlowPath::Kind::group, .ranks = {RankId{0}, RankId{1}}, .ratio = 0.3, .share = share});
}

TEST(Bandwidth, TheAdviceIsAboutWhatWasRecorded) {
  constexpr std::string_view one_host = "@process 0 host=n1\n@process 1 host=n1\n";
  constexpr std::string_view two_hosts = "@process 0 host=n1\n@process 1 host=n2\n";
  constexpr std::string_view kernels = "0 compute 0 1000 gemm lane=s7\n1 compute 0 1000 gemm lane=s7\n";
  const auto advice = [](const std::vector<Finding>& findings) { return findings.at(0).advice; };
  EXPECT_EQ(advice(judged_group(one_host, 0.5)),
            "The data stays on one host: check which other programs used the CPUs and memory of that host at the "
            "time.");
  EXPECT_NE(advice(judged_group(two_hosts, 0.5)).find("network ports"), std::string::npos);
  EXPECT_EQ(advice(judged_group(two_hosts, 0.5)).find("NCCL"), std::string::npos);
  EXPECT_NE(advice(judged_group(two_hosts, 0.5, kernels)).find("NCCL's choice of interface"), std::string::npos);
  EXPECT_NE(advice(judged_group(one_host, 0.5, kernels)).find("nvidia-smi"), std::string::npos);
  EXPECT_EQ(advice(judged_group(one_host, 0.5, kernels)).find("network"), std::string::npos);
}

TEST(Bandwidth, ASlowGroupThatWaitsForCpusIsNotBlamedOnTheNetwork) {
  std::string pressure;
  for (int rank = 0; rank < 2; ++rank)
    for (int step = 0; step < 4; ++step)
      pressure += format("{} step {} {} step index={}\n", rank, 250 * step, 250 * (step + 1), step);
  for (int sample = 0; sample < 20; ++sample) pressure += format("0 counter {} 97 pressure_cpu_percent\n", 50 * sample);
  const auto findings = judged_group("@process 0 host=n1\n@process 1 host=n1\n", 0.5, pressure);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].evidence.find("on host n1, at least one task was waiting for a CPU 97 % of the time, so these "
                                      "ranks may be slow because they wait for CPUs"),
            std::string::npos)
      << findings[0].evidence;
  EXPECT_TRUE(findings[0].advice.starts_with("Give every rank enough CPUs")) << findings[0].advice;
}

TEST(Bandwidth, ASlowPathIsAsSevereAsTheTimeThatItCosts) {
  EXPECT_EQ(judged_group("", 0.02).at(0).severity, FindingSeverity::minor);
  EXPECT_EQ(judged_group("", 0.12).at(0).severity, FindingSeverity::major);
  EXPECT_EQ(judged_group("", 0.3).at(0).severity, FindingSeverity::critical);
}

}  // namespace
}  // namespace rankscope::analyzer
