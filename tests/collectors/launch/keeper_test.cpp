// What a recorder keeps of a job, and what it says of it.
#include "launch/keeper.h"

#include <gmock/gmock.h>

#include "recorded.h"
#include "settings/rank_environment.h"

namespace rankscope::collectors {
namespace {

using namespace testing;
using ::testing::HasSubstr;

constexpr std::int64_t second = 1'000'000'000;

std::size_t steps_in(const Run& run, std::int64_t thinned) {
  std::size_t count = 0;
  for (const Span& span : run.spans())
    if (span.kind == SpanKind::step && run.number(run.id_of(span), "thinned").value_or(0) == thinned) ++count;
  return count;
}

TEST(Keeper, WhatTheUserAsksForIsSaid) {
  const KeepLimit asked{.period = nanoseconds{600 * second}, .bytes = std::uint64_t{4} << 30};
  EXPECT_EQ(
      sentence_on(asked, asked),
      "rankscope: keeps the events of the last 10 minutes, at most 4.0 GiB on this node; older events are replaced "
      "by sums for each step\n");
}

TEST(Keeper, WithoutAWishThereIsALimitAndItIsSaidHowToChangeIt) {
  const Folder spool;
  const KeepLimit limit = limit_on_this_node({}, spool.path());
  ASSERT_TRUE(limit.bytes);
  EXPECT_LE(*limit.bytes, std::uint64_t{32} << 30);
  EXPECT_GE(*limit.bytes, std::uint64_t{16} << 20);
  EXPECT_FALSE(limit.period);
  EXPECT_THAT(sentence_on(limit, {}), HasSubstr("rankscope: keeps at most "));
  EXPECT_THAT(
      sentence_on(limit, {}),
      HasSubstr(" of events on this node; older events are replaced by sums for each step (--keep changes this)\n"));
}

TEST(Keeper, RecordersOfOneNodeShareItsSize) {
  const Folder spool;
  const Variable rank{"OMPI_COMM_WORLD_RANK", "3"};
  const Variable world{"OMPI_COMM_WORLD_SIZE", "8"};
  const Variable local{"OMPI_COMM_WORLD_LOCAL_RANK", "3"};
  const Variable local_world{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"};
  const KeepLimit limit = limit_on_this_node({.bytes = std::uint64_t{4} << 30}, spool.path());
  EXPECT_EQ(limit.bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(sentence_on(limit, {}), "") << "the first recorder of the node says it";
}

TEST(Keeper, OldStepsOfAJobBecomeSums) {
  const Folder folder;
  const Recorded recorded =
      record(folder, {.command = {program("long_job"), "2", "5", "20000", "0", "0", "9", "0"}, .keep = "1s"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_GT(recorded.summary.thinned, 0U);
  EXPECT_GT(steps_in(*recorded.run, 1), 20U);
  EXPECT_GE(steps_in(*recorded.run, 0), 10U);
  EXPECT_EQ(recorded.run->quality().of(Counter::chunks_missing), 0U);
  EXPECT_EQ(recorded.run->quality().of(Counter::events_dropped), 0U);
  EXPECT_GE(recorded.run->quality().of(Counter::events_thinned), recorded.summary.thinned);
}

TEST(Keeper, AJobWithinTheLimitIsKeptWhole) {
  const Folder folder;
  const Recorded recorded =
      record(folder, {.command = {program("long_job"), "2", "1", "1000", "0", "0", "9", "0"}, .keep = "1h"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.summary.thinned, 0U);
  EXPECT_EQ(steps_in(*recorded.run, 1), 0U);
  EXPECT_EQ(recorded.run->quality().of(Counter::events_thinned), 0U);
}

TEST(Keeper, AnImpossibleLimitIsRefusedBeforeTheCommandStarts) {
  const Folder folder;
  const auto outcome = run_recorded({.command = {"/bin/touch", (folder / "ran").string()},
                                     .out = folder / "run.rankscope",
                                     .keep = "10",
                                     .talk = Talk::quiet});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::usage);
  EXPECT_FALSE(fs::exists(folder / "ran"));
}

}  // namespace
}  // namespace rankscope::collectors
