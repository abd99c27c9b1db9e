// When a recorder begins to read and to thin out a spool.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "launch/keeper.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/segment_writer.h"
#include "support/temporary_folder.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

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

/// What a recorder does for some seconds.
void keep(Keeper& keeper, WritingRank& rank) {
  for (int round = 0; round < 12; ++round) {
    rank.steps(5);
    keeper.round();
    std::this_thread::sleep_for(std::chrono::milliseconds{250});
  }
}

TEST(KeeperRounds, WithoutAWishNothingIsReadUntilTheLimitIsExceeded) {
  const TemporaryFolder spool;
  WritingRank rank{spool.path()};
  Keeper keeper{spool.path(), {.bytes = 1024 * mib}, Keeper::Asked::by_nobody};
  rank.steps(200);
  keep(keeper, rank);
  keeper.finish();
  EXPECT_FALSE(fs::exists(spool / std::string{recording::sums_folder}));
  EXPECT_EQ(rank.handed_back(), 0U);
}

TEST(KeeperRounds, WithoutAWishOldStepsBecomeSumsWhereTheLimitIsExceeded) {
  const TemporaryFolder spool;
  WritingRank rank{spool.path()};
  Keeper keeper{spool.path(), {.bytes = 2 * mib}, Keeper::Asked::by_nobody};
  rank.steps(150);
  keep(keeper, rank);
  EXPECT_TRUE(fs::exists(spool / std::string{recording::sums_folder}));
  EXPECT_GT(rank.handed_back(), 0U);
  EXPECT_TRUE(keeper.problem().empty()) << keeper.problem();
}

TEST(KeeperRounds, WhatTheUserAskedForIsFollowedFromTheBeginning) {
  const TemporaryFolder spool;
  WritingRank rank{spool.path()};
  Keeper keeper{spool.path(), {.bytes = 1024 * mib}, Keeper::Asked::by_the_user};
  keep(keeper, rank);
  EXPECT_TRUE(fs::exists(spool / std::string{recording::sums_folder}));
  EXPECT_EQ(rank.handed_back(), 0U);
}

}  // namespace
}  // namespace rankscope::collectors
