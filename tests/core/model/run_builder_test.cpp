#include "rankscope/core/model/run_builder.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "rankscope/core/model/text.h"

namespace rankscope {
namespace {

std::string text_of(RunBuilder&& builder) {
  const auto run = std::move(builder).build();
  if (!run) return run.error().message;
  std::ostringstream out;
  write_text(**run, out);
  return out.str();
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

}  // namespace
}  // namespace rankscope
