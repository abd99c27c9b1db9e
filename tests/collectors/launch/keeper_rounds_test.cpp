// When a recorder begins to read and to thin out a spool.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "launch/keeper.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/segment_writer.h"
#include "support/temporary_folder.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;
using ::rankscope::testing::TemporaryFolder;

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

/// A process that writes steps into a spool.
class WritingRank {
 public:
  explicit WritingRank(const fs::path& spool) {
    auto made = recording::SegmentWriter::create({.path = spool / "a.rseg", .rank = 0, .rank_source = "RANK"});
    if (!made) throw std::runtime_error(made.error().message);
    writer_ = std::move(*made);
    pen_ = writer_->thread();
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      pen_->push(SpanKind::step, "train");
      pen_->attribute("index", next_++);
      for (int op = 0; op < 500; ++op) {
        pen_->push(SpanKind::op, "aten::mm");
        pen_->pop();
      }
      pen_->pop();
      writer_->refill();
    }
  }
  [[nodiscard]] std::uint64_t handed_back() { return writer_->header().handed_back.load(); }

 private:
  std::unique_ptr<recording::SegmentWriter> writer_;
  std::unique_ptr<recording::ThreadWriter> pen_;
  std::int64_t next_ = 0;
};

/// A recorder whose clock goes on when the test says so, and which waits for nothing that may be reported late.
class TestKeeper {
 public:
  TestKeeper(const fs::path& spool, const KeepLimit& limit, Keeper::Asked asked)
      : keeper_(spool, limit, asked, {.now = [this] { return time_; }, .limits = at_once}) {}
  TestKeeper(const TestKeeper&) = delete;
  TestKeeper& operator=(const TestKeeper&) = delete;

  /// What a recorder does for some seconds.
  void keep(WritingRank& rank) {
    for (int round = 0; round < 12; ++round) {
      rank.steps(5);
      keeper_.round();
      time_ += std::chrono::milliseconds{250};
    }
  }
  void pass(std::chrono::seconds time) { time_ += time; }
  Keeper* operator->() { return &keeper_; }

 private:
  static constexpr recording::LiveLimits at_once{
      .steps = 1U << 14, .stretches = 1U << 22, .device_delay = nanoseconds{0}, .host_delay = nanoseconds{0}};
  HostTime time_ = Keeper::steady_now();
  Keeper keeper_;
};

TEST(KeeperRounds, WithoutAWishNothingIsReadUntilTheLimitIsExceeded) {
  const TemporaryFolder spool;
  WritingRank rank{spool.path()};
  TestKeeper keeper{spool.path(), {.bytes = 1024 * mib}, Keeper::Asked::by_nobody};
  rank.steps(200);
  keeper.keep(rank);
  keeper->finish();
  EXPECT_FALSE(fs::exists(spool / std::string{recording::sums_folder}));
  EXPECT_EQ(rank.handed_back(), 0U);
}

TEST(KeeperRounds, WithoutAWishOldStepsBecomeSumsWhereTheLimitIsExceeded) {
  const TemporaryFolder spool;
  WritingRank rank{spool.path()};
  TestKeeper keeper{spool.path(), {.bytes = 2 * mib}, Keeper::Asked::by_nobody};
  rank.steps(150);
  keeper.keep(rank);
  EXPECT_TRUE(fs::exists(spool / std::string{recording::sums_folder}));
  EXPECT_GT(rank.handed_back(), 0U);
  EXPECT_NE(keeper->problem().find("the events occupied up to "), std::string::npos)
      << "they were there before the recorder began to read: " << keeper->problem();
}

TEST(KeeperRounds, ALimitThatIsKeptIsNotWorthAWord) {
  const TemporaryFolder spool;
  WritingRank rank{spool.path()};
  TestKeeper keeper{spool.path(), {.bytes = 16 * mib}, Keeper::Asked::by_the_user};
  for (int round = 0; round < 30; ++round) keeper.keep(rank);
  EXPECT_GT(rank.handed_back(), 0U) << "more was written";
  EXPECT_EQ(keeper->problem(), "");
}

TEST(KeeperRounds, ALimitThatIsExceededIsSaidWithTheReason) {
  const TemporaryFolder spool;
  WritingRank rank{spool.path()};
  std::ofstream{spool / std::string{recording::sums_folder}} << "a file in the place of the folder";
  TestKeeper keeper{spool.path(), {.bytes = 2 * mib}, Keeper::Asked::by_the_user};
  rank.steps(400);
  for (int round = 0; round < 3; ++round) keeper.keep(rank);
  keeper.pass(std::chrono::seconds{200});
  keeper.keep(rank);
  EXPECT_NE(keeper->problem().find(", more than the 2 MiB that --keep or its default allows, because "),
            std::string::npos)
      << keeper->problem();
  EXPECT_NE(keeper->problem().find("times)"), std::string::npos) << keeper->problem();
}

TEST(KeeperRounds, ADamagedSegmentIsAProblem) {
  const TemporaryFolder spool;
  WritingRank{spool.path()}.steps(20);
  TestKeeper keeper{
      spool.path(), {.period = nanoseconds{1'000'000'000}, .bytes = 1024 * mib}, Keeper::Asked::by_the_user};
  std::fstream file{spool / std::string{"a.rseg"}, std::ios::in | std::ios::out | std::ios::binary};
  file.seekp(4096);
  file << std::string(64, 'x');
  file.close();
  keeper->round();
  EXPECT_NE(keeper->problem().find("is damaged and cannot be read further"), std::string::npos) << keeper->problem();
}

TEST(KeeperRounds, SumsOfTheLastStepsAreStoredOnlyWhereOthersWereGivenUp) {
  const TemporaryFolder spool;
  WritingRank rank{spool.path()};
  TestKeeper keeper{spool.path(), {.bytes = 1024 * mib}, Keeper::Asked::by_the_user};
  rank.steps(200);
  keeper->finish();
  EXPECT_FALSE(fs::exists(spool / std::string{recording::sums_folder})) << "nothing was read any more";
}

TEST(KeeperRounds, WhatTheUserAskedForIsFollowedFromTheBeginning) {
  const TemporaryFolder spool;
  WritingRank rank{spool.path()};
  TestKeeper keeper{spool.path(), {.bytes = 1024 * mib}, Keeper::Asked::by_the_user};
  keeper.keep(rank);
  EXPECT_TRUE(fs::exists(spool / std::string{recording::sums_folder}));
  EXPECT_EQ(rank.handed_back(), 0U);
}

}  // namespace
}  // namespace rankscope::collectors
