// What can be asked for, and what is refused in words.
#include "what_if/fix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/replay/replayed.h"
#include "rankscope/core/format.h"
#include "what_if/find.h"

namespace rankscope::analyzer::replay {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  const auto fix = parse_fix(text);
  return fix ? "" : fix.error().message.substr(0, fix.error().message.find(';'));
}

TEST(Fix, HasANameAndPerhapsAFactor) {
  const auto op = parse_fix("op:aten::*mm*0.5");
  ASSERT_TRUE(op);
  EXPECT_EQ(op->kind, FixKind::op);
  EXPECT_EQ(op->subject, "aten::*mm");
  EXPECT_EQ(op->factor, 0.5);
  const auto glob = parse_fix("op:aten::*");
  ASSERT_TRUE(glob);
  EXPECT_EQ(glob->subject, "aten::*");
  EXPECT_FALSE(glob->factor);
  const auto remove = parse_fix("remove:*7");
  ASSERT_TRUE(remove);
  EXPECT_EQ(remove->subject, "*7");
  const auto link = parse_fix("link:0-12*2");
  ASSERT_TRUE(link);
  EXPECT_EQ(link->first, 0U);
  EXPECT_EQ(link->second, 12U);
  EXPECT_EQ(link->factor, 2);
  EXPECT_EQ(parse_fix("hostcode*0.25")->factor, 0.25);
}

TEST(Fix, ThatMeansNothingIsRefused) {
  EXPECT_EQ(refusal("faster"), "--fix faster: no such fix");
  EXPECT_EQ(refusal("rank"), "--fix rank: the number of a rank must follow the colon");
  EXPECT_EQ(refusal("rank:two"), "--fix rank:two: the number of a rank must follow the colon");
  EXPECT_EQ(refusal("rank:1*2"), "--fix rank:1*2: the number of a rank must follow the colon");
  EXPECT_EQ(refusal("link:3"), "--fix link:3: two ranks must follow the colon, as in link:0-1");
  EXPECT_EQ(refusal("link:3-3"), "--fix link:3-3: two ranks must follow the colon, as in link:0-1");
  EXPECT_EQ(refusal("network:dp"), "--fix network:dp: nothing may follow the name of this fix");
  EXPECT_EQ(refusal("hostcode"), "--fix hostcode: a factor must follow, as in hostcode*0.5");
  EXPECT_EQ(refusal("op:x*-1"), "--fix op:x*-1: the factor must be from 0 to 1,000,000");
  EXPECT_EQ(refusal("op:x*1e7"), "--fix op:x*1e7: the factor must be from 0 to 1,000,000");
  EXPECT_EQ(refusal("hostcode*nan"), "--fix hostcode*nan: a factor must follow, as in hostcode*0.5");
  EXPECT_EQ(refusal("stage:first"), "--fix stage:first: only \"last\" may follow the colon, for the last stage");
  EXPECT_EQ(refusal("overlap:dp"), "--fix overlap:dp: only \"all\" may follow the colon");
  EXPECT_EQ(refusal("group*0.5:dp"), "--fix group*0.5:dp: a factor must come last, as in group:dp*0.5");
  EXPECT_EQ(refusal("network2"), "--fix network2: no such fix");
  EXPECT_EQ(refusal(""), "--fix : no such fix");
}

std::string not_there(std::string_view text) {
  const Replayed replayed{two_ranks};
  const std::vector<Fix> fixes{*parse_fix(text)};
  const auto fixed = apply_fixes(*replayed.graph, ItemPeers(*replayed.graph, replayed.classes), fixes);
  return fixed ? "" : fixed.error().message;
}

TEST(Fix, OfWhatIsNotRecordedIsRefused) {
  EXPECT_EQ(not_there("rank:7"), "--fix rank:7: the recording has no rank 7; choose from ranks 0, 1");
  EXPECT_EQ(not_there("host:n9"), "--fix host:n9: the recording does not name the hosts of its ranks");
  EXPECT_EQ(not_there("op:aten::mm*0.5"),
            "--fix op:aten::mm*0.5: the recording has nothing that this fix would change");
  EXPECT_EQ(not_there("data"), "--fix data: the recording has nothing that this fix would change");
  EXPECT_EQ(not_there("stage:last"), "--fix stage:last: the recording has no pipeline stages");
  EXPECT_EQ(not_there("gc"), "--fix gc: the recording has nothing that this fix would change");
}

Error refusal_of(const Replayed& replayed, std::string_view text) {
  const auto fixed =
      apply_fixes(*replayed.graph, ItemPeers(*replayed.graph, replayed.classes), std::vector<Fix>{*parse_fix(text)});
  return fixed ? Error{} : fixed.error();
}

TEST(Fix, OfARankWithoutPeersCannotBeTold) {
  Replayed replayed{two_ranks};
  replayed.classes = {0, 1};  // as of two pipeline stages
  const Error error = refusal_of(replayed, "rank:1");
  EXPECT_EQ(error.kind, ErrorKind::not_computable);
  EXPECT_EQ(error.message,
            "cannot tell what --fix rank:1 would save: less than half of the rank's work has a counterpart on its "
            "peers");
}

TEST(Fix, OfARankOfAPipelineNamesTheFixForStages) {
  Replayed replayed{two_stages()};
  replayed.classes = {0, 1};
  EXPECT_THAT(refusal_of(replayed, "rank:1").message, HasSubstr("--fix stage:last"));
}

TEST(Fix, OfASampledFunctionIsRefusedAndNamesTheRank) {
  const Replayed replayed{std::string{two_ranks} +
                          "@lane 1 \"python stacks\" kind=thread number=9\n"
                          "1 mark 20 \"prepare train.py:6\" lane=\"python stacks\" ns=10\n"};
  for (const char* fix : {"op:prep*", "op:prepare*0.5", "remove:prepare"}) {
    const Error error = refusal_of(replayed, fix);
    EXPECT_EQ(error.kind, ErrorKind::usage);
    EXPECT_EQ(error.message,
              format("--fix {}: this names a sampled Python function, which is not an operation; rank:1 predicts the "
                     "steps with rank 1 as fast as its peers",
                     fix));
  }
}

TEST(Fix, OfARankIsRefusedForTheReasonsOfTheReport) {
  const Replayed replayed{with_extra_work(2, "")};
  const auto section = what_if(*replayed.graph, ItemPeers(*replayed.graph, replayed.classes));
  ASSERT_TRUE(section);
  for (const RankReplay& rank : section->ranks) {
    ASSERT_NE(rank.why_unknown, "");
    const std::string fix = format("rank:{}", rank.rank.value);
    const Error error = refusal_of(replayed, fix);
    EXPECT_EQ(error.kind, ErrorKind::not_computable);
    EXPECT_EQ(error.message, format("cannot tell what --fix {} would save: {}", fix, rank.why_unknown));
  }
}

TEST(Fix, OfARankOrTheNetworkCannotBeToldWherePartnersAreUnknown) {
  Replayed replayed{two_ranks};
  replayed.graph->doubts.unsplit_members = 1;  // of the two members
  EXPECT_EQ(refusal_of(replayed, "rank:1").message,
            format("cannot tell what --fix rank:1 would save: {}", partners_are_unknown));
  EXPECT_EQ(refusal_of(replayed, "network").message,
            format("cannot tell what --fix network would save: {}", transfer_unknown));
}

TEST(Fix, ToBalanceNeedsRanksThatDoTheSame) {
  Replayed replayed{two_ranks};
  replayed.classes = {0, 1};
  EXPECT_EQ(replayed.with({"balance"}), -1);
}

TEST(Fix, ByNameMeansTransfersToo) {
  EXPECT_EQ(Replayed{two_ranks}.with({"op:allreduce*2"}), 120);
  EXPECT_EQ(Replayed{two_ranks}.with({"remove:allreduce"}), 80);
}

/// One CPU rank: garbage is collected inside of forward for 40 ns, 30 of them in a range of its own.
constexpr std::string_view collecting = R"(
@run
0 step 0 100 step index=0
0 forward 0 90 forward
0 user 10 50 gc.collect
0 user 15 45 "generation 2"
)";

TEST(Fix, OfGarbageCollectionMeansAllThatIsInsideOfIt) {
  const Replayed replayed{collecting};
  ASSERT_TRUE(replayed.graph);
  EXPECT_EQ(replayed.with({"gc"}), 60);
}

/// Two streams: `second` begins while `first` runs, and is no part of it.
constexpr std::string_view concurrent = R"(
@run
@rank 0 pid=1
@lane 0 main kind=thread number=1
@lane 0 "stream 7" kind=stream number=7 device=0
0 step 0 1000 step index=0 lane=main
0 runtime 1 3 cudaLaunchKernel lane=main
0 runtime 4 6 cudaLaunchKernel lane=main
0 runtime 7 900 cudaDeviceSynchronize lane=main
0 compute 10 400 first lane="stream 7"
0 compute 100 890 second lane="stream 7"
@link launch 1 4
@link launch 2 5
)";

TEST(Fix, OfAKernelLeavesThoseThatOverlapItAlone) {
  const Replayed replayed{concurrent};
  ASSERT_TRUE(replayed.graph);
  EXPECT_EQ(replayed.with({"op:first*0.5"}), 1000);
}

TEST(Fix, ComparesWorkOfOneNameOnSeveralStreamsInItsOrder) {
  std::string text = "@run clock=same_host\n";
  int span = 0;
  std::string links;
  for (int rank = 0; rank < 3; ++rank) {
    text += "@rank " + std::to_string(rank) + " pid=" + std::to_string(rank + 1) + "\n";
    const std::string own = std::to_string(rank);
    for (const char* lane : {" main kind=thread number=1\n", " \"stream 7\" kind=stream number=7 device=0\n",
                             " \"stream 20\" kind=stream number=20 device=0\n"})
      text += "@lane " + own + lane;
    for (int step = 0; step < 3; ++step) {
      const auto at = [&](int offset) { return std::to_string(10'000 * step + offset); };
      text += own + " step " + at(0) + " " + at(10'000) + " step index=" + std::to_string(step) + " lane=main\n";
      text += own + " runtime " + at(1) + " " + at(3) + " cudaLaunchKernel lane=main\n";
      text += own + " runtime " + at(4) + " " + at(6) + " cudaLaunchKernel lane=main\n";
      text += own + " runtime " + at(7) + " " + at(4'000) + " cudaDeviceSynchronize lane=main\n";
      text += own + " compute " + at(10) + " " + at(1'010) + " gemm lane=\"stream 7\"\n";
      text += own + " compute " + at(20) + " " + at(3'020) + " gemm lane=\"stream 20\"\n";
      links += "@link launch " + std::to_string(span + 1) + " " + std::to_string(span + 4) + "\n@link launch " +
               std::to_string(span + 2) + " " + std::to_string(span + 5) + "\n";
      span += 6;
    }
  }
  const Replayed replayed{text + links};
  ASSERT_TRUE(replayed.graph) << replayed.graph.error().why;
  EXPECT_EQ(replayed.with({"balance"}), 30'000) << "nothing is uneven";
}

TEST(Fix, OfGroupsAndLinksScalesTheirTransfers) {
  const Replayed replayed{two_ranks};
  EXPECT_EQ(replayed.with({"group:dp*2"}), 120);
  EXPECT_EQ(replayed.with({"link:0-1*0.5"}), 90);
  EXPECT_EQ(replayed.with({"link:0-2*0.5"}), -1);
}

TEST(Fix, ToBalanceSharesTheComputeOutEvenly) { EXPECT_EQ(Replayed{two_ranks}.with({"balance"}), 80); }

TEST(Fix, OfALateCommunicationComparesWithPeersThatWereNotLate) {
  const auto late = [](testing::StepPlan& plan, std::uint32_t rank, std::int64_t) {
    if (rank == 1) plan.comm_delay = 20;
  };
  const Replayed replayed{testing::make({.ranks = 4, .steps = 10, .noise = 0, .fault = late})};
  const Replayed clean{testing::make({.ranks = 4, .steps = 10, .noise = 0})};
  ASSERT_TRUE(replayed.graph);
  const std::int64_t before = measured_ns(*replayed.graph);
  const std::int64_t truth = measured_ns(*clean.graph);
  ASSERT_GT(before, truth + 150'000'000);
  EXPECT_NEAR(static_cast<double>(replayed.with({"rank:1"})), static_cast<double>(truth),
              0.001 * static_cast<double>(truth));
}

TEST(Fix, PredictsTheCleanRunForEachFault) {
  const Replayed clean{testing::make({.ranks = 4, .steps = 20, .seed = 9})};
  const auto truth = static_cast<double>(measured_ns(*clean.graph));
  const auto predicted = [&](auto fault, std::string_view fix) {
    const Replayed faulty{testing::make({.ranks = 4, .steps = 20, .seed = 9, .fault = fault})};
    EXPECT_GT(static_cast<double>(measured_ns(*faulty.graph)), 1.05 * truth) << fix;
    return static_cast<double>(faulty.with({fix}));
  };
  const auto slow = [](testing::StepPlan& plan, std::uint32_t rank, std::int64_t) {
    if (rank == 2) plan.forward *= 1.5, plan.backward *= 1.5;
  };
  const auto loader = [](testing::StepPlan& plan, std::uint32_t rank, std::int64_t) {
    if (rank == 1) plan.data += 30;
  };
  const auto pause = [](testing::StepPlan& plan, std::uint32_t rank, std::int64_t step) {
    if (rank == 3 && step % 5 == 4) plan.stall += 100;
  };
  EXPECT_NEAR(predicted(slow, "rank:2"), truth, 0.02 * truth);
  EXPECT_NEAR(predicted(loader, "rank:1"), truth, 0.02 * truth);
  EXPECT_NEAR(predicted(pause, "rank:3"), truth, 0.02 * truth);
}

}  // namespace
}  // namespace rankscope::analyzer::replay
