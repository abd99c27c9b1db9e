#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "stragglers/parts.h"
#include "tcp_links/parts.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SyntheticRun;

constexpr std::uint32_t ranks = 4;
constexpr double step_ms = 120;
constexpr std::int64_t steps = 20;

std::string port_of(std::uint32_t rank) { return format("{}", 4000 + rank); }
std::string address_of(std::uint32_t rank) { return format("10.0.0.{}:{}", rank, port_of(rank)); }

/// One total of the connection from a rank to the next one, which grows evenly.
std::string total(std::uint32_t from, std::uint32_t to, std::string_view which, double per_step) {
  std::string text;
  for (std::int64_t step = 0; step <= steps + 2; ++step)
    text += format("{} counter {} {} \"tcp {} to {} {}\"\n", from,
                   static_cast<std::int64_t>(static_cast<double>(step) * step_ms * 1e6),
                   static_cast<double>(step) * per_step, address_of(from), address_of(to), which);
  return text;
}

struct Traffic {
  double megabytes = 2;  ///< per step
  double backlog_ms = 0;
};

/// Ranks that send around a ring; nothing else is uneven, and each transfer takes long enough to lose time in.
Report report_on(const std::function<Traffic(std::uint32_t from)>& traffic, double transfer_ms = 30,
                 const ReportOptions& options = {}, std::string_view hosts = "", RankId slow_rank = {}) {
  SyntheticRun plan;
  plan.ranks = ranks;
  plan.head += hosts;
  plan.steps = steps;
  plan.fault = [=](testing::StepPlan& step, std::uint32_t rank, std::int64_t) {
    step.transfer = transfer_ms;
    if (RankId{rank} == slow_rank) step.forward *= 1.5;
  };
  std::string text = text_of(plan);
  for (std::uint32_t from = 0; from < ranks; ++from) {
    const std::uint32_t to = (from + 1) % ranks;
    const Traffic sent = traffic(from);
    text += total(from, to, "sent_bytes", sent.megabytes * 1e6);
    text += total(from, to, "backlog_seconds", sent.backlog_ms * 1e-3);
    text += total(from, to, "backlog_bytes", sent.backlog_ms > 0 ? sent.megabytes * 1e6 : 0);
  }
  return analyze(*testing::run_of(text), options);
}

const Finding* slow_link_in(const Report& report) {
  const auto found = std::ranges::find(*report.findings, "slow_tcp_link", &Finding::id);
  return found == report.findings->end() ? nullptr : &*found;
}

TEST(TcpLinks, TheOneOnWhichDataWaitsIsNamedWithItsSpeedAndLeadsTheVerdict) {
  const Report report = report_on([](std::uint32_t from) { return Traffic{2, from == 2 ? 40.0 : 0.1}; });
  ASSERT_TRUE(report.tcp_links) << report.tcp_links.error().why;
  ASSERT_EQ(report.tcp_links->slow.size(), 1U);
  const SlowTcpLink& slow = report.tcp_links->slow.front();
  EXPECT_EQ(slow.from, RankId{2});
  EXPECT_EQ(slow.to, RankId{3});
  EXPECT_EQ(slow.compared, 3U);
  EXPECT_NEAR(slow.backlog_share, 40 / step_ms, 0.03);
  EXPECT_NEAR(*slow.gbps, 2e6 / 40e6, 0.001) << "2 MB in 40 ms";
  EXPECT_GT(slow.cost_ns, 20'000'000);
  const Finding* const finding = slow_link_in(report);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->rank, RankId{2});
  EXPECT_THAT(finding->title, HasSubstr("the connection from rank 2 to rank 3 is slow: data waits for the network"));
  EXPECT_EQ(finding, &report.findings->front()) << "a share of everybody's time names neither rank nor cause";
}

TEST(TcpLinks, OneToARankThatIsSlowItselfIsNoFinding) {
  const auto traffic = [](std::uint32_t from) { return Traffic{2, from == 2 ? 40.0 : 0.1}; };
  const Report to_slow_rank = report_on(traffic, 30, {}, "", RankId{3});
  ASSERT_TRUE(to_slow_rank.tcp_links);
  EXPECT_EQ(to_slow_rank.tcp_links->slow.size(), 1U);
  EXPECT_EQ(slow_link_in(to_slow_rank), nullptr) << "rank 3 takes its data late";
  EXPECT_NE(slow_link_in(report_on(traffic, 30, {}, "", RankId{2})), nullptr) << "a slow sender has room to send";
}

TEST(TcpLinks, NoneIsNamedWhereAllWaitEquallyOrHardlyEver) {
  for (const double backlog_ms : {0.0, 0.5, 40.0}) {
    const Report report = report_on([&](std::uint32_t) { return Traffic{2, backlog_ms}; });
    ASSERT_TRUE(report.tcp_links);
    EXPECT_EQ(report.tcp_links->links.size(), ranks);
    EXPECT_THAT(report.tcp_links->slow, IsEmpty()) << backlog_ms;
  }
}

TEST(TcpLinks, ALinkThatCarriesNothingIsNotOneToCompareWith) {
  const Report report = report_on([](std::uint32_t from) { return from < 2 ? Traffic{2, 40} : Traffic{0.001, 0}; });
  EXPECT_THAT(report.tcp_links->slow, IsEmpty()) << "two that carry all of it are equally slow";
}

TEST(TcpLinks, LinksBetweenHostsAreNotMeasuredByThoseInsideOfOne) {
  constexpr std::string_view two_hosts = "@rank 0 host=a\n@rank 1 host=a\n@rank 2 host=b\n@rank 3 host=b\n";
  const auto crosses = [](std::uint32_t from) { return from % 2 == 1; };
  const Report healthy = report_on(
      [&](std::uint32_t from) {
        return Traffic{2, crosses(from) ? 40.0 : 0.0};
      },
      30, {}, two_hosts);
  ASSERT_TRUE(healthy.tcp_links);
  EXPECT_EQ(healthy.tcp_links->links.size(), ranks);
  EXPECT_THAT(healthy.tcp_links->slow, IsEmpty()) << "both that cross the network wait alike";
  const Report slow = report_on(
      [&](std::uint32_t from) {
        return Traffic{2, from == 3 ? 40.0 : 0.0};
      },
      30, {}, two_hosts);
  ASSERT_EQ(slow.tcp_links->slow.size(), 1U);
  EXPECT_EQ(slow.tcp_links->slow.front().from, RankId{3});
  EXPECT_EQ(slow.tcp_links->slow.front().compared, 1U);
}

TEST(TcpLinks, LinksThatCarryLittleAreNoMeasureOfThoseThatCarryMuch) {
  const Report report = report_on([](std::uint32_t from) { return from < 2 ? Traffic{100, 40} : Traffic{2, 0}; });
  ASSERT_TRUE(report.tcp_links);
  EXPECT_THAT(report.tcp_links->slow, IsEmpty());
}

/// Each rank sends to each other one.
Report full_mesh(const std::function<double(std::uint32_t from, std::uint32_t to)>& backlog_s) {
  SyntheticRun plan;
  plan.fault = [](testing::StepPlan& step, std::uint32_t, std::int64_t) { step.transfer = 30; };
  std::string text = text_of(plan);
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      if (from == to) continue;
      text += total(from, to, "sent_bytes", 1e6) + total(from, to, "backlog_seconds", backlog_s(from, to));
    }
  }
  return analyze(*testing::run_of(text), {});
}

TEST(TcpLinks, AReceiverWhoseLinksAreAllSlowIsNamedOnce) {
  const Report report = full_mesh([](std::uint32_t, std::uint32_t to) { return to == 3 ? 0.03 : 0; });
  ASSERT_TRUE(report.tcp_links);
  ASSERT_EQ(report.tcp_links->slow.size(), 1U);
  EXPECT_FALSE(report.tcp_links->slow.front().from.is_set());
  EXPECT_EQ(report.tcp_links->slow.front().to, RankId{3});
  ASSERT_NE(slow_link_in(report), nullptr);
  EXPECT_EQ(slow_link_in(report)->rank, RankId{3});
  EXPECT_THAT(slow_link_in(report)->title, HasSubstr("the connections to rank 3 are slow"));
}

TEST(TcpLinks, WithoutStepsASlowOneIsNamedAndItsCostIsUnknown) {
  std::string text = "@run clock=same_host\n";
  for (std::uint32_t from = 0; from < ranks; ++from) {
    text += format("{} op 0 {} work\n", from, static_cast<std::int64_t>((steps + 2) * step_ms * 1e6));
    text += total(from, (from + 1) % ranks, "sent_bytes", 1e6);
    text += total(from, (from + 1) % ranks, "backlog_seconds", from == 2 ? 0.06 : 0);
  }
  const Report report = analyze(*testing::run_of(text), {});
  ASSERT_FALSE(report.steps);
  ASSERT_TRUE(report.tcp_links) << report.tcp_links.error().why;
  ASSERT_EQ(report.tcp_links->slow.size(), 1U);
  EXPECT_FALSE(report.tcp_links->slow.front().cost_ns);
  const auto json = tcp_links_json(*report.tcp_links).at("slow").at(0);
  EXPECT_TRUE(json.at("cost_ns_per_step").is_null());
  EXPECT_THAT(json.at("why").at("cost_ns_per_step").get<std::string>(), HasSubstr("it is not known"));
  ASSERT_NE(slow_link_in(report), nullptr);
  EXPECT_NE(slow_link_in(report)->why_no_gain, "");
}

TEST(TcpLinks, ASenderWhoseLinksAreAllSlowIsNamedOnce) {
  const Report report = full_mesh([](std::uint32_t from, std::uint32_t) { return from == 1 ? 0.03 : 0; });
  ASSERT_TRUE(report.tcp_links);
  ASSERT_EQ(report.tcp_links->slow.size(), 1U);
  EXPECT_EQ(report.tcp_links->slow.front().from, RankId{1});
  EXPECT_FALSE(report.tcp_links->slow.front().to.is_set());
  EXPECT_THAT(slow_link_in(report)->title, HasSubstr("rank 1 sends slowly on its connections"));
}

TEST(TcpLinks, OneThatCostsNextToNothingIsNotSlow) {
  const Report report = report_on([](std::uint32_t from) { return Traffic{2, from == 2 ? 40.0 : 0.1}; }, 1);
  ASSERT_TRUE(report.tcp_links);
  EXPECT_THAT(report.tcp_links->slow, IsEmpty()) << "2 ms of transfers per step are all that could be saved";
  EXPECT_EQ(slow_link_in(report), nullptr);
}

TEST(TcpLinks, TheFindingIsKeptForBothEndsAndForNoOtherRank) {
  const auto named_for = [](std::uint32_t rank) {
    ReportOptions options;
    options.ranks = {RankId{rank}};
    return slow_link_in(report_on(
               [](std::uint32_t from) {
                 return Traffic{2, from == 2 ? 40.0 : 0.1};
               },
               30, options)) != nullptr;
  };
  EXPECT_TRUE(named_for(2));
  EXPECT_TRUE(named_for(3));
  EXPECT_FALSE(named_for(0));
}

TEST(TcpLinks, ExplainRanksAtTheirEndsThatAreLateInTheirCommunicationAndNoOthers) {
  TcpLinksSection links;
  for (const std::uint32_t to : {0U, 2U}) links.links.push_back({.from = RankId{1}, .to = RankId{to}});
  const auto left = [&links](StragglerKind kind) {
    StragglersSection section;
    for (const std::uint32_t rank : {0U, 1U, 2U, 3U})
      section.rows.push_back({.rank = RankId{rank}, .kind = kind, .evidence = {}});
    leave_to_slow_links(links, section);
    std::vector<std::uint32_t> remaining;
    for (const Straggler& row : section.rows) remaining.push_back(row.rank.value);
    return remaining;
  };
  EXPECT_THAT(left(StragglerKind::network), ElementsAre(0, 1, 2, 3)) << "none is slow";
  links.slow = {{.from = RankId{1}, .to = RankId{2}}};
  EXPECT_THAT(left(StragglerKind::network), ElementsAre(0, 3));
  EXPECT_THAT(left(StragglerKind::compute), ElementsAre(0, 1, 2, 3));
  links.slow = {{.from = RankId{1}}};
  EXPECT_THAT(left(StragglerKind::network), ElementsAre(3)) << "all links of the sender";
}

TEST(TcpLinks, AreATableAndJson) {
  const Report report = report_on([](std::uint32_t from) { return Traffic{2, from == 2 ? 40.0 : 0.0}; });
  const auto tables = tcp_link_tables(report, 2);
  ASSERT_EQ(tables.size(), 1U);
  ASSERT_EQ(tables[0].table.rows.size(), 2U);
  EXPECT_EQ(tables[0].left_out.rows, 2U);
  EXPECT_EQ(tables[0].table.rows[0][0].text, "2");
  EXPECT_EQ(tables[0].table.rows[0][1].text, "3");
  EXPECT_EQ(tables[0].table.rows[1][5].text, empty_cell) << "no data waited";
  const auto json = tcp_links_json(*report.tcp_links);
  ASSERT_EQ(json.at("links").size(), ranks);
  EXPECT_EQ(json.at("links").at(2).at("to"), 3);
  EXPECT_TRUE(json.at("links").at(0).at("gbps").is_null());
  EXPECT_EQ(json.at("links").at(0).at("why").at("gbps"), "no data waited");
  EXPECT_EQ(json.at("slow").at(0).at("from"), 2);
  EXPECT_EQ(json.at("connections_unwatched"), 0);
}

TEST(TcpLinks, AnEndThatIsNoRankIsShownAsItsAddress) {
  const auto run = testing::run_of(
      "@run clock=same_host\n0 op 0 1000 work\n0 counter 0 0 \"tcp 10.0.0.1:5 to 10.0.0.9:443 sent_bytes\"\n"
      "0 counter 1000 500000 \"tcp 10.0.0.1:5 to 10.0.0.9:443 sent_bytes\"\n");
  const Report report = analyze(*run, {});
  ASSERT_TRUE(report.tcp_links);
  ASSERT_EQ(report.tcp_links->links.size(), 1U);
  EXPECT_FALSE(report.tcp_links->links.front().to.is_set());
  EXPECT_EQ(report.tcp_links->links.front().remote, "10.0.0.9:443");
  EXPECT_EQ(report.tcp_links->links.front().sent_bytes, 500'000);
}

TEST(TcpLinks, WithoutCountersTheReportSaysWhy) {
  const Report report = analyze(*testing::make({}), {});
  ASSERT_FALSE(report.tcp_links);
  EXPECT_THAT(report.tcp_links.error().why, HasSubstr("no TCP connection was recorded"));
}

/// What a GPU lacks is no reason for it.
TEST(TcpLinks, WithoutCountersAndWithoutDeviceActivityTheReasonIsTheSame) {
  ReportOptions all_steps;
  all_steps.include_warm_up = true;
  const Report report =
      analyze(*testing::run_of("@run clock=same_host\n@rank 0 pid=1\n@device 0 0 name=GPU\n0 step 0 1000 step index=0\n"
                               "0 op 0 900 work\n"),
              all_steps);
  ASSERT_FALSE(report.rank_rows);
  ASSERT_FALSE(report.tcp_links);
  EXPECT_THAT(report.tcp_links.error().why, HasSubstr("no TCP connection was recorded"));
}

}  // namespace
}  // namespace rankscope::analyzer
