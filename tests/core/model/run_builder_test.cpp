#include "rankscope/core/model/run_builder.h"

#include <gmock/gmock.h>

#include <array>
#include <sstream>
#include <string>

#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"

namespace rankscope {
namespace {

std::string as_text(const Run& run) {
  std::ostringstream out;
  write_text(run, out);
  return out.str();
}

std::string text_of(RunBuilder&& builder) {
  const auto run = std::move(builder).build();
  return run ? as_text(**run) : run.error().message;
}

/// Two kernels on one stream with their launches, a mark, a sample and a collective, from `number` on.
struct Lanes {
  LaneId main;
  LaneId stream;
};
Lanes add_lanes(RunBuilder& builder) {
  return {builder.add_lane(0, LaneKind::thread, "main", 1), builder.add_lane(0, LaneKind::stream, "stream 7", 7, 0)};
}
void add_events(RunBuilder& builder, const Lanes& lanes, std::int64_t number) {
  const auto [main, stream] = lanes;
  for (std::int64_t i = number; i < number + 2; ++i) {
    const std::string op = "op " + std::to_string(i % 3);
    const auto call = builder.add_span(main, SpanKind::runtime, builder.intern(op), {at(i * 10), at(i * 10 + 3)});
    builder.add_attribute(call, builder.intern("correlation"), i);
    const auto kernel =
        builder.add_span(stream, SpanKind::compute, builder.intern("gemm"), {at(i * 10 + 5), at(i * 10 + 9)});
    builder.add_attribute(kernel, builder.intern("correlation"), i);
    builder.add_attribute(kernel, builder.intern("grid"), JsonText{builder.intern("[" + op + "]")});
    builder.add_link(LinkKind::launch, call, kernel);
  }
  const auto mark = builder.add_mark(main, builder.intern("mark " + std::to_string(number)), at(number * 10));
  builder.add_mark_attribute(mark, builder.intern("bytes"), number);
  builder.add_sample(0, builder.intern("rss_bytes"), at(number * 10), 1.5);
  const auto nccl =
      builder.add_span(stream, SpanKind::comm, builder.intern("nccl"), {at(number * 10 + 9), at(number * 10 + 10)});
  NewCollective collective{.rank = RankId{0}, .group = builder.add_group("dp", std::array{RankId{0}, RankId{1}})};
  collective.op = builder.intern("allreduce");
  collective.sequence = number;
  collective.lane = stream;
  collective.span_ticket = nccl;
  builder.add_collective(collective);
}

std::string facts_of(const std::vector<std::pair<std::string, std::string>>& facts) {
  RunBuilder builder;
  builder.add_span(builder.add_lane(builder.add_process({}), LaneKind::thread, "main", 1), SpanKind::op,
                   builder.intern("op"), {at(0), at(1)});
  builder.info().metadata = facts;
  const auto run = std::move(builder).build();
  std::string text;
  for (const auto& [key, value] : (*run)->info().metadata) text += key + "=" + value + "\n";
  return text;
}

TEST(RunBuilder, FactsThatAreToldTwiceAreUnitedByWholeItems) {
  EXPECT_EQ(facts_of({{"driver", "535.129"}, {"driver", "535.12"}, {"driver", "535.129"}}), "driver=535.129; 535.12\n");
  EXPECT_EQ(facts_of({{"b", "2"}, {"a", "1"}, {"b", "3"}, {"b", "3; 4"}}), "a=1\nb=2; 3; 4\n");
}

TEST(RunBuilder, AFactThatIsToldOnceStaysAsItIs) {
  EXPECT_EQ(facts_of({{"command", "bash -c 'a; b; a; '"}, {"empty", ""}}), "command=bash -c 'a; b; a; '\nempty=\n");
  EXPECT_EQ(facts_of({{"command", "a; b; a"}, {"command", "a; b; a"}}), "command=a; b; a\n");
}

TEST(RunBuilder, PartsThatThreadsCollectedMakeTheSameRunAsOneBuilder) {
  const Process process{.rank = RankId{0}, .pid = 7};
  RunBuilder whole;
  whole.add_process(process);
  const Lanes lanes = add_lanes(whole);
  add_events(whole, lanes, 0);
  add_events(whole, lanes, 2);
  whole.quality().add(Counter::events_dropped, 3);

  RunBuilder first;
  RunBuilder second;
  second.intern("a string that makes every id of this part differ");
  first.add_process(process);
  second.add_process(process);
  add_events(first, add_lanes(first), 0);
  add_events(second, add_lanes(second), 2);
  second.quality().add(Counter::events_dropped, 3);
  first.absorb(std::move(second), PartProcesses::same_rows);

  const std::string expected = text_of(std::move(whole));
  EXPECT_NE(expected.find("@link launch"), std::string::npos) << expected;
  EXPECT_EQ(text_of(std::move(first)), expected);
}

TEST(RunBuilder, AProcessOfAPartBecomesAnotherProcess) {
  RunBuilder all;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    RunBuilder part;
    part.intern("rank " + std::to_string(rank));
    part.add_process({.rank = RankId{rank}, .pid = 100 + rank, .host = part.intern("n" + std::to_string(rank))});
    add_events(part, add_lanes(part), rank * 2);
    all.absorb(std::move(part), PartProcesses::new_rows);
  }
  const auto run = std::move(all).build();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->ranks().size(), 3U);
  EXPECT_EQ((*run)->lanes().size(), 6U);
  EXPECT_EQ((*run)->spans().size(), 15U);
  EXPECT_EQ((*run)->groups().size(), 1U);
  for (const Link& link : (*run)->links())
    EXPECT_EQ((*run)->number(link.from, "correlation"), (*run)->number(link.to, "correlation"));
  for (const Collective& collective : (*run)->collectives())
    EXPECT_EQ((*run)->text((*run)->span(collective.span).name), "nccl");
  EXPECT_EQ((*run)->text((*run)->process_of(RankId{2}).host), "n2");
}

TEST(RunBuilder, APartMayBelongToAProcessThatIsKnownAlready) {
  RunBuilder all;
  all.add_process({.rank = RankId{0}, .pid = 1});
  all.add_process({.rank = RankId{1}, .pid = 2});
  all.add_span(all.add_lane(0, LaneKind::thread, "main", 1), SpanKind::op, all.intern("before"), {at(0), at(9)});
  RunBuilder part;
  part.add_process({});
  const LaneId lane = part.add_lane(0, LaneKind::thread, "main", 1);
  const std::uint32_t ticket = part.add_span(lane, SpanKind::op, part.intern("a"), {at(1), at(2)});
  const StringId name = part.intern("a");
  const Absorbed absorbed = all.absorb_into(std::move(part), 1);
  EXPECT_EQ(all.spans()[ticket + absorbed.first_span].name, absorbed.strings[name.index()]);
  EXPECT_EQ(all.lanes()[absorbed.lanes[lane.index()].index()].process, 1U);
  const auto run = std::move(all).build();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->lanes().size(), 2U);
}

TEST(RunBuilder, ShiftingMovesEverythingOfAProcess) {
  RunBuilder builder;
  for (std::int64_t pid = 0; pid < 2; ++pid)
    builder.add_process({.rank = RankId{static_cast<std::uint32_t>(pid)}, .pid = pid});
  for (std::uint32_t process = 0; process < 2; ++process) {
    const LaneId lane = builder.add_lane(process, LaneKind::thread, "main", 1);
    const std::uint32_t span = builder.add_span(lane, SpanKind::comm, builder.intern("c"), {at(10), at(20)});
    builder.add_mark(lane, builder.intern("m"), at(15));
    builder.add_sample(process, builder.intern("bytes"), at(16), 1);
    const std::array members{RankId{0}, RankId{1}};
    NewCollective row{.rank = RankId{process}, .group = builder.add_group("g", members)};
    row.enqueued = at(5);
    row.started = at(10);
    row.finished = at(20);
    row.lane = lane;
    row.span_ticket = span;
    builder.add_collective(row);
  }
  const std::array by_process{nanoseconds{0}, nanoseconds{1000}};
  builder.shift(by_process);
  const auto run = std::move(builder).build();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->spans()[0].time, (TimeRange{at(10), at(20)}));
  EXPECT_EQ((*run)->spans()[1].time, (TimeRange{at(1010), at(1020)}));
  EXPECT_EQ((*run)->marks()[1].time, at(1015));
  EXPECT_EQ((*run)->samples()[1].time, at(1016));
  EXPECT_EQ((*run)->collectives()[1].enqueued, at(1005));
  EXPECT_EQ((*run)->collectives()[1].finished, at(1020));
}

TEST(RunBuilder, AttributesMayComeLateAndStayInTheirOrder) {
  RunBuilder builder;
  builder.add_process({.rank = RankId{0}});
  const LaneId main = builder.add_lane(0, LaneKind::thread, "main", 1);
  const StringId a = builder.intern("a");
  const StringId b = builder.intern("b");
  const auto outer = builder.begin_span(main, SpanKind::step, builder.intern("outer"), at(0));
  builder.add_attribute(outer, b, 1);
  const auto inner = builder.begin_span(main, SpanKind::op, builder.intern("inner"), at(1));
  const auto mark = builder.add_mark(main, builder.intern("mark"), at(2));
  builder.add_attribute(inner, a, 2);
  builder.add_mark_attribute(mark, a, 3);
  builder.add_attribute(outer, a, 4);
  builder.add_attribute(inner, b, 5);
  builder.add_mark_attribute(mark, b, 6);
  builder.add_attribute(outer, b, 7);
  builder.end_span(inner, at(3));
  builder.end_span(outer, at(10), span_flag::cut_end);
  const auto run = std::move(builder).build();
  ASSERT_TRUE(run) << run.error().message;
  const auto values = [](AttributeRange range) {
    std::vector<std::int64_t> numbers;
    for (const Attribute& attribute : range) numbers.push_back(attribute.value.number);
    return numbers;
  };
  EXPECT_EQ(values((*run)->attributes_of(SpanId{0})), (std::vector<std::int64_t>{1, 4, 7}));
  EXPECT_EQ(values((*run)->attributes_of(SpanId{1})), (std::vector<std::int64_t>{2, 5}));
  EXPECT_EQ(values((*run)->attributes_of((*run)->marks()[0])), (std::vector<std::int64_t>{3, 6}));
  EXPECT_EQ((*run)->spans()[0].time, (TimeRange{at(0), at(10)}));
  EXPECT_EQ((*run)->spans()[0].flags, span_flag::cut_end);
  EXPECT_EQ((*run)->spans()[1].depth, 1);
}

TEST(RunBuilder, ASpanThatEndsBeforeItBeganHasNoLengthAndIsCounted) {
  RunBuilder builder;
  builder.add_process({.rank = RankId{0}});
  const LaneId main = builder.add_lane(0, LaneKind::thread, "main", 1);
  builder.end_span(builder.begin_span(main, SpanKind::op, builder.intern("op"), at(5)), at(4));
  const auto run = std::move(builder).build();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->spans()[0].time, (TimeRange{at(5), at(5)}));
  EXPECT_EQ((*run)->quality().of(Counter::negative_duration), 1U);
}

std::vector<QualityPlace> contested_places(std::string_view text) {
  const auto run = run_from_text(text);
  EXPECT_TRUE(run) << run.error().message;
  return run ? (*run)->info().places : std::vector<QualityPlace>{};
}

TEST(RunBuilder, ASpanWithoutANameHasTheEmptyName) {
  RunBuilder builder;
  builder.add_process({.rank = RankId{0}, .pid = 1});
  const auto lane = builder.add_lane(0, LaneKind::thread, "main", 1);
  builder.add_span(lane, SpanKind::op, StringId{}, {at(0), at(10)});
  builder.add_mark(lane, StringId{}, at(5));
  const auto run = std::move(builder).build();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->text((*run)->spans().front().name), "");
  EXPECT_EQ((*run)->text((*run)->marks().front().name), "");
}

TEST(RunBuilder, TwoProcessesThatTrainAsOneRankAtTheSameTimeAreNamed) {
  const std::string two =
      "@rank 3 pid=71 host=n0\n3 step 0 100 step index=0\n@rank 3 pid=99 host=n1\n3 step 50 150 step index=0\n";
  const QualityPlace both{Counter::rank_contested, 1, "rank 3: pid 71 on n0 and pid 99 on n1"};
  EXPECT_EQ(contested_places(two), std::vector{both});
  const auto run = run_from_text(two);
  EXPECT_EQ((*run)->quality().of(Counter::rank_contested), 1U);
  EXPECT_EQ(as_text(**run).find("rank_contested"), std::string::npos) << "its reader finds it again";
}

TEST(RunBuilder, ARankThatWasStartedAgainOrHasLoaderWorkersIsNotContested) {
  EXPECT_THAT(contested_places("@rank 3 pid=71\n3 step 0 100 step index=0\n"
                               "@rank 3 pid=99\n3 step 100 200 step index=1\n"
                               "@rank 3 pid=98\n3 loader 0 150 load\n"),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace rankscope
