// What the program announced and what its communication library carried out: which are the same.
#include "recording/decode/comm_join.h"

#include <gmock/gmock.h>

#include <limits>
#include <sstream>
#include <string>

namespace rankscope::recording {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t training = 1, comm = 2, watcher = 3, of_nccl = 4;  // threads

/// Of which group or communicator; those of the same number have the same ranks.
constexpr std::uint32_t world = 0, pair = 1, others = 2;

/// A pair is a part of the world; others is not.
Fit fit(GroupId group, StringId communicator) {
  if (group.value == communicator.value) return Fit::same;
  return group.value == world && communicator.value == pair ? Fit::possible : Fit::no;
}

/// What one process told. Uids are given by the test: the library's are above 100.
class Told {
 public:
  struct Operation {
    std::string_view op = "allreduce";
    std::int64_t bytes = 64;
    std::uint32_t group = world;
    std::int64_t peer = -1;
  };
  Told& announced(std::uint64_t uid, std::int64_t thread, std::uint64_t time, Operation operation) {
    announced_.push_back({.uid = uid,
                          .op = operation.op,
                          .bytes = operation.bytes,
                          .peer = operation.peer,
                          .group = GroupId{operation.group},
                          .enqueued = time,
                          .enqueued_on = thread});
    return *this;
  }
  /// Of the one announced last.
  Told& ran(std::int64_t thread, std::uint64_t begin, std::uint64_t end) {
    Announced& one = announced_.back();
    one.started_on = one.finished_on = thread;
    one.started = begin;
    one.finished = end;
    return *this;
  }
  Told& carried(std::uint64_t uid, std::int64_t thread, std::uint64_t time, Operation operation) {
    carried_.push_back({.uid = uid,
                        .op = operation.op,
                        .bytes = operation.bytes,
                        .peer = operation.peer,
                        .communicator = StringId{operation.group},
                        .enqueued = time,
                        .enqueued_on = thread});
    return *this;
  }
  /// "1=101" for the same, "1<101 102" for parts.
  [[nodiscard]] std::vector<std::string> joined() const {
    const CommJoin join = join_reports(announced_, carried_, fit);
    std::vector<std::string> texts;
    std::size_t parts = 0;
    for (const auto& [uid, found] : join.by_announced) {
      std::ostringstream text;
      text << uid;
      for (const std::uint64_t part : found.uids) {
        text << (part != found.uids.front() ? " " : found.is_whole ? "=" : "<") << part;
        EXPECT_TRUE(join.carried.contains(part));
        ++parts;
      }
      texts.push_back(text.str());
    }
    EXPECT_EQ(join.carried.size(), parts) << "none is a part of two";
    return texts;
  }

 private:
  std::vector<Announced> announced_;
  std::vector<Carried> carried_;
};

TEST(CommJoin, WhatAThreadAnnouncedAndThenHandedToNcclIsOneOperation) {
  Told told;
  for (std::uint64_t i = 1; i <= 3; ++i)
    told.announced(i, training, i * 10, {}).carried(100 + i, training, i * 10 + 5, {});
  EXPECT_THAT(told.joined(), ElementsAre("1=101", "2=102", "3=103"));
}

TEST(CommJoin, TheThreadThatExecutesWhatAnotherAnnouncedHandsItToNccl) {
  Told told;
  told.announced(1, training, 10, {}).ran(comm, 100, 200).announced(2, training, 11, {}).ran(comm, 300, 400);
  told.carried(101, comm, 150, {}).carried(102, comm, 350, {});
  EXPECT_THAT(told.joined(), ElementsAre("1=101", "2=102"));
}

TEST(CommJoin, AThreadThatWatchesTheGpuSaysWhenTheyRanAndChangesNothing) {
  Told told;
  told.announced(1, training, 10, {}).ran(watcher, 100, 200).announced(2, training, 20, {}).ran(watcher, 200, 300);
  told.carried(101, training, 15, {}).carried(102, training, 25, {});
  EXPECT_THAT(told.joined(), ElementsAre("1=101", "2=102"));
}

TEST(CommJoin, OfAGroupEachGoesToTheOneWithItsBytesHoweverNcclSortsThem) {
  Told told;
  told.announced(1, training, 10, {.bytes = 8}).announced(2, training, 11, {.bytes = 64});
  told.announced(3, training, 12, {.bytes = 8});
  told.carried(101, training, 20, {.bytes = 64}).carried(102, training, 20, {.bytes = 8});
  told.carried(103, training, 20, {.bytes = 8});
  EXPECT_THAT(told.joined(), ElementsAre("1=102", "2=101", "3=103"));
}

TEST(CommJoin, OfSeveralCommunicatorsEachGoesToTheGroupWithItsRanks) {
  Told told;
  told.announced(1, training, 10, {.group = pair}).announced(2, training, 11, {.group = world});
  told.announced(3, training, 12, {.group = others});
  told.carried(101, training, 20, {.group = others}).carried(102, training, 20, {.group = world});
  told.carried(103, training, 20, {.group = pair});
  EXPECT_THAT(told.joined(), ElementsAre("1=103", "2=102", "3=101"));
}

TEST(CommJoin, SendsAndReceivesGoByTheirPeers) {
  Told told;
  told.announced(1, training, 10, {.op = "send", .peer = 1}).announced(2, training, 11, {.op = "send", .peer = 2});
  told.announced(3, training, 12, {.op = "recv", .peer = 1}).announced(4, training, 13, {.op = "send", .peer = 1});
  told.carried(101, training, 20, {.op = "recv", .peer = 1}).carried(102, training, 20, {.op = "send", .peer = 2});
  told.carried(103, training, 20, {.op = "send", .peer = 1}).carried(104, training, 20, {.op = "send", .peer = 1});
  EXPECT_THAT(told.joined(), ElementsAre("1=103", "2=102", "3=101", "4=104"));
}

TEST(CommJoin, AnOperationThatNcclDidNotTellOfShiftsNoneOfThoseBehindIt) {
  Told told;
  told.announced(1, training, 10, {}).announced(2, training, 20, {}).announced(3, training, 30, {});
  told.carried(102, training, 25, {}).carried(103, training, 35, {});
  EXPECT_THAT(told.joined(), ElementsAre("2=102", "3=103"));
}

TEST(CommJoin, WhatNobodyAnnouncedStaysByItself) {
  Told told;
  told.carried(100, training, 5, {}).announced(1, training, 10, {}).ran(training, 11, 20);
  told.carried(101, training, 15, {}).carried(102, training, 16, {}).carried(103, training, 25, {});
  told.carried(104, training, 15, {.op = "reduce"}).carried(105, training, 15, {.bytes = 32});
  EXPECT_THAT(told.joined(), ElementsAre("1=101"));
}

TEST(CommJoin, OfRanksThatAreNotItsOwnNothingIsTaken) {
  Told told;
  told.announced(1, training, 10, {.group = pair}).ran(comm, 20, 30).carried(101, comm, 25, {.group = world});
  EXPECT_THAT(told.joined(), IsEmpty());
}

TEST(CommJoin, WhatNcclDoesOnAThreadOfItsOwnIsJoinedInItsOrder) {
  Told told;
  told.announced(1, training, 10, {}).ran(watcher, 40, 50).announced(2, training, 20, {}).ran(watcher, 50, 60);
  told.carried(101, of_nccl, 30, {}).carried(102, of_nccl, 35, {}).carried(103, of_nccl, 70, {});
  EXPECT_THAT(told.joined(), ElementsAre("1=101", "2=102"));
}

TEST(CommJoin, AnAllgatherOfUnequalPartsIsTheBroadcastsInIt) {
  Told told;
  told.announced(1, training, 10, {.op = "allgather"}).announced(2, training, 40, {.op = "allgather"});
  for (std::uint64_t i = 1; i <= 3; ++i) told.carried(100 + i, training, 20 + i, {.op = "broadcast", .bytes = 60});
  told.carried(104, training, 45, {.op = "allgather"}).carried(105, training, 46, {.op = "broadcast"});
  EXPECT_THAT(told.joined(), ElementsAre("1<101 102 103", "2=104"));
}

TEST(CommJoin, ABarrierOnAThreadOfItsOwnIsWhateverNcclDoesInIt) {
  Told told;
  told.announced(1, training, 10, {.op = "barrier", .bytes = 0}).ran(comm, 20, 30);
  told.carried(101, comm, 25, {.bytes = 4}).carried(102, training, 25, {.bytes = 4});
  EXPECT_THAT(told.joined(), ElementsAre("1<101"));
}

TEST(CommJoin, WhatTheAnnouncingThreadDoesBesidesIsNoPartOfWhatAnotherOneExecutes) {
  Told told;
  told.announced(1, training, 10, {}).ran(watcher, 40, 50);
  told.carried(101, training, 20, {.op = "reduce"}).carried(102, training, 21, {.bytes = 8});
  EXPECT_THAT(told.joined(), IsEmpty());
  told.announced(2, training, 60, {.op = "barrier"}).ran(watcher, 80, 90).carried(103, training, 70, {.bytes = 4});
  EXPECT_THAT(told.joined(), ElementsAre("2<103"));
}

TEST(CommJoin, BytesThatNoNumberCanHoldDoNotAddUp) {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  Told told;
  told.announced(1, training, 10, {.bytes = std::numeric_limits<std::int64_t>::max()});
  for (std::uint64_t i = 1; i <= 4; ++i) told.carried(100 + i, training, 20, {.bytes = huge});
  EXPECT_THAT(told.joined(), IsEmpty());
}

TEST(CommJoin, SeveralOfTheSameKindArePartsOnlyIfTheirBytesAddUp) {
  Told coalesced;
  coalesced.announced(1, training, 10, {.bytes = 100});
  coalesced.carried(101, training, 20, {.bytes = 60}).carried(102, training, 20, {.bytes = 40});
  EXPECT_THAT(coalesced.joined(), ElementsAre("1<101 102"));
  Told unrelated;
  unrelated.announced(1, training, 10, {.bytes = 100}).carried(101, training, 20, {.bytes = 60});
  EXPECT_THAT(unrelated.joined(), IsEmpty());
}

TEST(CommJoin, ManyThatNeverEndAndFitNothingAreGoneThroughInTime) {
  constexpr std::uint64_t many = 200'000;
  Told told;
  for (std::uint64_t i = 0; i < many; ++i) {
    told.announced(i, training, 10 * i, {.group = pair});
    told.carried(many + i, training, 10 * i + 5, {.group = others});
  }
  EXPECT_THAT(told.joined(), IsEmpty());
}

}  // namespace
}  // namespace rankscope::recording
