// Every allocation followed to its release: who holds what is live, and what each place allocates.
#pragma once

#include <map>

#include "memory/series.h"
#include "steps/window_time.h"

namespace rankscope::analyzer {

struct Replay {
  Section<MemoryHolders> holders = unavailable("not computed");
  std::int64_t released_unknown = 0;  ///< over all events
  std::int64_t reused = 0;
};

/// Who held what was live behind event `peak` of a series that has blocks. A block whose release was lost ends where
/// its address is given out again; what no block accounts for is "before the recording" as far as that goes, and
/// "unknown" beyond it. Unavailable where addresses or totals lack, or blocks and totals contradict each other.
[[nodiscard]] Replay replay_blocks(const Run& run, const MemorySeries& series, std::size_t peak);

/// Sums by place over all series that are added.
class PlaceSums {
 public:
  explicit PlaceSums(const Run& run) : run_(run) {}
  void add(const MemorySeries& series, const WindowTime& windows);
  [[nodiscard]] std::vector<AllocationRow> finish() &&;

 private:
  const Run& run_;
  std::map<std::pair<MemoryKind, PlaceNames>, AllocationRow> rows_;
};

[[nodiscard]] AllocationPlace place_text(const Run& run, const PlaceNames& names);

}  // namespace rankscope::analyzer
