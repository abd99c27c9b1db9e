// One operation that both the program and its communication library told of -> which of both are the same.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "rankscope/core/id.h"

namespace rankscope::recording {

/// What the program said of an operation, by the annotation API. Times are ticks of the segment.
struct Announced {
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t uid = 0;
  std::string_view op;
  std::int64_t bytes = -1;
  std::int64_t peer = -1;  ///< rank of the job
  GroupId group{};
  std::uint64_t enqueued = 0;
  std::uint64_t started = never;
  std::uint64_t finished = never;
  std::int64_t enqueued_on = 0;  ///< thread that said so
  std::int64_t started_on = 0;
  std::int64_t finished_on = 0;
};

/// What the library said of an operation.
struct Carried {
  std::uint64_t uid = 0;
  std::string_view op;
  std::int64_t bytes = -1;
  std::int64_t peer = -1;  ///< rank of the job; -1 = not known. Means nothing where the operation has no root
  StringId communicator{};
  std::uint64_t enqueued = 0;
  std::int64_t enqueued_on = 0;
};

/// Whether a communicator can be that of a group, by the ranks of both.
enum class Fit : std::uint8_t { no, possible, same };
using FitOf = std::function<Fit(GroupId group, StringId communicator)>;

struct CommJoin {
  struct Parts {
    std::vector<std::uint64_t> uids;  ///< in the order in which the library reported them
    bool is_whole = false;            ///< one operation of the same kind and bytes: the very same
  };
  std::map<std::uint64_t, Parts> by_announced;
  std::set<std::uint64_t> carried;  ///< all that are a part of something
};

/// Of one process, by the rules of docs/gpu.md, "NCCL".
[[nodiscard]] CommJoin join_reports(std::span<const Announced> announced, std::span<const Carried> carried,
                                    const FitOf& fit);

}  // namespace rankscope::recording
