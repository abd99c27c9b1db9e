// Communication as every rank saw it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rankscope/core/id.h"
#include "rankscope/core/time.h"

namespace rankscope {

/// How far a rank had come with an operation when its recording ended.
enum class CommState : std::uint8_t { enqueued, started, finished };

/// One rank's part of a collective or send/receive. `enqueued <= started <= finished` where set.
struct Collective {
  RankId rank{};
  GroupId group{};
  StringId op{};  ///< "allreduce", "send", ...
  StringId dtype{};
  std::int64_t sequence = -1;  ///< n-th operation of the group, equal on all members; -1 = not recorded
  std::int64_t bytes = -1;     ///< count x element size on this rank; -1 = not recorded
  std::int64_t peer = -1;      ///< root or partner, global rank
  CommState state = CommState::finished;
  RunTime enqueued{};
  RunTime started{};
  RunTime finished{};    ///< times later than `state` are 0 and mean nothing
  LaneId lane{};         ///< where it was executed (none: never started)
  LaneId enqueued_on{};  ///< thread that enqueued it
  SpanId span{};         ///< started -> finished; none if it never started
};

/// A communicator: name and global ranks in group order.
struct Group {
  StringId name{};
  std::vector<RankId> members{};
  bool by_ends =
      false;  ///< not recorded: which operations are one was concluded from when they ended (metrics.md 5, K5)
};

/// What was concluded about a row of Run::collectives() that does not say which operation it was a part of.
struct Membership {
  std::uint32_t row = 0;
  GroupId group{};  ///< a group of the run, or the n-th that is added
  std::int64_t sequence = -1;
  std::string_view op;  ///< replaces what was recorded; empty: that stays
};

}  // namespace rankscope
