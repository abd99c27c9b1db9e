// How many pieces of work stand in a queue at each instant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "math/interval_set.h"
#include "rankscope/analyzer/launches/section.h"

namespace rankscope::analyzer {

/// Something that enters the queue and leaves it; nothing for one that leaves before it enters.
struct Queued {
  RunTime entered;
  RunTime left;
};

/// How long a queue had each depth. Times of different windows can be added up.
struct DepthTimes {
  std::map<std::int64_t, std::int64_t> ns_at;  ///< by depth; only those that occurred
  std::int64_t empty_and_idle_ns = 0;          ///< of depth 0, while nothing ran
  /// What is in several windows is added so many times.
  void add(const DepthTimes& more, std::int64_t times = 1);
  bool operator==(const DepthTimes&) const = default;
};

/// Measures windows of a queue.
class QueueWalk {
 public:
  /// `busy`: when something runs.
  QueueWalk(std::span<const Queued> queued, IntervalSet busy);
  /// The window must not begin before the one asked for last.
  [[nodiscard]] DepthTimes over(TimeRange window);

 private:
  /// The depth from a time on.
  struct Depth {
    RunTime from;
    std::int64_t depth = 0;
  };
  static std::vector<Depth> depths_of(std::span<const Queued> queued);

  std::vector<Depth> depths_;
  IntervalSet busy_;
  std::size_t next_ = 0;       // first change behind the current time
  std::size_t next_busy_ = 0;  // first interval that ends behind it
};

[[nodiscard]] QueueDepth queue_depth(const DepthTimes& times);
/// Over the windows, which ascend.
[[nodiscard]] QueueDepth queue_depth(std::span<const Queued> queued, const IntervalSet& busy,
                                     std::span<const TimeRange> windows);

}  // namespace rankscope::analyzer
