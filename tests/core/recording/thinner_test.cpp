// Old events are replaced by sums, and their place in the file is written to again.
#include "rankscope/core/recording/thinner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/live.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "support/temporary_folder.h"
#include "thinned_rank.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;
using namespace thinning;

TEST(Thinner, StepsWhoseEventsAreGivenUpStayAsSums) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.steps(200);
  const HostTime half = now();
  rank.steps(200);
  const Thinner::GivenUp given = rank.give_up(half);
  EXPECT_GT(given.events, 30'000U) << "of about 40 000 in the first half";
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  const SeenSteps seen = steps_of(**run, RankId{0});
  expect_all_steps(seen, 400);
  EXPECT_GT(seen.thinned, 150U);
  EXPECT_LE(seen.thinned, 200U);
  EXPECT_EQ(seen.operations, 200 * (400 - seen.thinned)) << "full steps have all of their events, the others none";
  EXPECT_GE((*run)->quality().of(Counter::events_thinned), given.events);
  EXPECT_EQ(data_loss_in(**run), 0U);
  EXPECT_EQ((*run)->quality().of(Counter::pop_without_push), 0U);
}

TEST(Thinner, SumsSayWhatAStepWasSpentOnAndHowMuchItSent) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.steps(400);
  EXPECT_GT(rank.give_up(now()).bytes, 0U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  bool found = false;
  for (const Span& span : (*run)->spans()) {
    const SpanId id = (*run)->id_of(span);
    if ((*run)->number(id, "thinned").value_or(0) != 1) continue;
    found = true;
    const std::int64_t window = (*run)->number(id, "window_ns").value_or(-1);
    const std::int64_t compute = (*run)->number(id, "compute_ns").value_or(-1);
    const std::int64_t communication = (*run)->number(id, "communication_ns").value_or(-1);
    EXPECT_GT(compute, 0);
    EXPECT_GT(communication, 0);
    EXPECT_LE(compute + communication, window);
    EXPECT_EQ((*run)->number(id, "bytes").value_or(-1), 1000);
    EXPECT_EQ((*run)->number(id, "operations").value_or(-1), 1);
  }
  EXPECT_TRUE(found);
}

TEST(Thinner, TheLatestStepsAreKeptHoweverOldTheyAre) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.steps(300);
  rank.give_up(now());
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  const SeenSteps seen = steps_of(**run, RankId{0});
  expect_all_steps(seen, 300);
  EXPECT_GE(seen.indices.size() - seen.thinned, 5U);
}

TEST(Thinner, AnUnfinishedStepIsNeverGivenUpWithTheStepsBeforeIt) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.steps(300);
  rank.pen->push(SpanKind::step, "train");
  rank.pen->attribute("index", 300);
  rank.pen->comm_enqueued(
      {.uid = 9999, .sequence = 300, .bytes = 8, .group = "all", .op = "allreduce", .dtype = "f32", .members = "0,1"});
  rank.pen->comm_started(9999);  // and hangs
  rank.thinner->follow(1U << 30);
  rank.give_up(now());
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(std::ranges::any_of((*run)->collectives(), [](const Collective& one) {
    return one.sequence == 300 && one.state == CommState::started;
  }));
}

TEST(Thinner, TheFileIsWrittenToAgainAndGrowsNoMore) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.steps(300);
  rank.give_up(now());
  for (int round = 0; round < 3; ++round) {
    rank.steps(300);
    rank.give_up(now());
  }
  const std::uint64_t size = fs::file_size(rank.path);
  const std::uint64_t blocks = blocks_of(rank.path);
  for (int round = 0; round < 12; ++round) {
    rank.steps(300);
    rank.give_up(now());
  }
  EXPECT_LT(fs::file_size(rank.path), size + size / 2) << "after three times as many steps more";
  EXPECT_LT(blocks_of(rank.path), blocks + blocks / 2);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  expect_all_steps(steps_of(**run, RankId{0}), 16 * 300);
  EXPECT_EQ(data_loss_in(**run), 0U);
}

TEST(Thinner, AViewerFollowsTheFileWhileItIsWrittenToAgain) {
  const TemporaryFolder folder;
  const fs::path spool = folder / "spool";
  const fs::path out = folder / "run.rankscope";
  fs::create_directories(spool);
  fs::create_directories(out);
  std::ofstream{out / ("host-1" + std::string{spool_mark_suffix})} << spool.string() << '\n';
  Rank rank{spool};
  LiveReader reader{out};
  for (int round = 0; round < 10; ++round) {
    rank.steps(200);
    const LiveView view = reader.poll();
    ASSERT_EQ(view.processes.size(), 1U);
    EXPECT_EQ(view.processes[0].steps, static_cast<std::uint64_t>(rank.next));
    EXPECT_EQ(view.unreadable, 0U);
    rank.give_up(now());
  }
  LiveReader late{out};  // most events are gone when it begins
  for (int poll = 0; poll < 3; ++poll) EXPECT_EQ(late.poll().unreadable, 0U);
  rank.steps(50);
  EXPECT_GE(late.poll().processes.at(0).steps, 50U);
}

double largest_in(const Run& run, std::string_view counter) {
  double largest = 0;
  for (const CounterTrack& track : run.counters())
    if (run.text(track.name) == counter)
      for (const CounterSample& sample : run.samples_of(track)) largest = std::max(largest, sample.value);
  return largest;
}

TEST(Thinner, FactsAboutTheProcessStay) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.pen->thread_name("trainer");
  rank.pen->metadata("model", "gpt");
  rank.pen->device("GPU X", 0, "uuid-1");
  rank.pen->counter("rss_bytes", 1e9);
  rank.pen->counter("rss_bytes", 3e9);  // the largest one is not the first
  rank.steps(400);
  EXPECT_GT(rank.give_up(now()).bytes, 0U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->metadata((*run)->process_of(RankId{0}), "model"), "gpt");
  ASSERT_EQ((*run)->devices().size(), 1U);
  EXPECT_EQ((*run)->text((*run)->devices()[0].name), "GPU X");
  EXPECT_EQ(largest_in(**run, "rss_bytes"), 3e9);
  EXPECT_TRUE(
      std::ranges::any_of((*run)->lanes(), [&](const Lane& lane) { return (*run)->text(lane.name) == "trainer"; }));
}

TEST(Thinner, AGatheredSegmentHoldsItsSums) {
  const TemporaryFolder spool;
  const TemporaryFolder out;
  fs::create_directories(out / segment_folder);
  {
    Rank rank{spool.path()};
    rank.steps(400);
    rank.give_up(now());
    rank.pen.reset();
    const auto gathered = gather_segment(rank.path, out / segment_folder / rank.path.filename());
    ASSERT_TRUE(gathered) << gathered.error().message;
    EXPECT_GT(gathered->events_thinned, 0U);
  }
  const auto run = read_recording(out.path());
  ASSERT_TRUE(run) << run.error().message;
  const SeenSteps seen = steps_of(**run, RankId{0});
  expect_all_steps(seen, 400);
  EXPECT_GT(seen.thinned, 0U);
  EXPECT_EQ(data_loss_in(**run), 0U);
}

TEST(Thinner, RanksThatWereThinnedOutUnequallyBeginWithTheSameFullStep) {
  const TemporaryFolder spool;
  Rank one{spool.path(), 0};
  Rank other{spool.path(), 1};
  one.steps(400);
  other.steps(200);
  const HostTime half = now();
  other.steps(200);
  one.give_up(now());
  other.give_up(half);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  const SeenSteps of_one = steps_of(**run, RankId{0});
  const SeenSteps of_other = steps_of(**run, RankId{1});
  expect_all_steps(of_one, 400);
  expect_all_steps(of_other, 400);
  EXPECT_EQ(of_one.thinned, of_other.thinned);
  for (const Collective& collective : (*run)->collectives())
    EXPECT_GE(collective.sequence, static_cast<std::int64_t>(of_one.thinned));
}

/// A recorder that is killed has written that it gives chunks up, and has not emptied them yet.
TEST(Thinner, ChunksThatAreListedAndStillThereAreNotReadTwice) {
  const TemporaryFolder spool;
  const TemporaryFolder killed;
  Rank rank{spool.path()};
  rank.steps(300);
  fs::copy_file(rank.path, killed / rank.path.filename().string());
  EXPECT_GT(rank.give_up(now()).events, 0U);
  fs::copy(spool / std::string{sums_folder}, killed / std::string{sums_folder});
  const auto run = read_recording(killed.path());
  ASSERT_TRUE(run) << run.error().message;
  const SeenSteps seen = steps_of(**run, RankId{0});
  expect_all_steps(seen, 300);
  EXPECT_EQ(seen.operations, 200 * (300 - seen.thinned));
  EXPECT_EQ(data_loss_in(**run), 0U);
}

TEST(Thinner, WithoutStepsWhatIsOldIsGivenUp) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  const auto operations = [&rank](int count) {
    for (int i = 0; i < count; ++i) {
      rank.pen->push(SpanKind::op, "aten::mm");
      rank.pen->pop();
      if (i % 100 == 0) rank.writer->refill();
      if (i % 1000 == 0) rank.thinner->follow(1U << 30);
    }
    rank.thinner->follow(1U << 30);
  };
  operations(50'000);
  const HostTime half = now();
  operations(50'000);
  EXPECT_GT(rank.give_up(half).events, 0U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(data_loss_in(**run), 0U);
  const std::size_t left = steps_of(**run, RankId{0}).operations;
  EXPECT_GE(left, 50'000U);
  EXPECT_LT(left, 100'000U);
  EXPECT_EQ(left + (*run)->quality().of(Counter::events_thinned), 100'000U);
}

TEST(Thinner, WhatCannotBeStoredIsKept) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  std::ofstream{spool / std::string{sums_folder}} << "a file in the place of the folder";
  rank.steps(300);
  EXPECT_EQ(rank.give_up(now()).bytes, 0U);
  fs::remove(spool / std::string{sums_folder});
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(steps_of(**run, RankId{0}).operations, 300U * 200U);
}

}  // namespace
}  // namespace rankscope::recording
