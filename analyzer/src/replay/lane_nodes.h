// The nodes of one lane in the order of time, to be found by time.
#pragma once

#include <algorithm>
#include <vector>

#include "replay/draft.h"

namespace rankscope::analyzer::replay {

class LaneNodes {
 public:
  /// The nodes must be added in the order of their ends.
  void add(std::uint32_t node, RunTime end) { nodes_.push_back({end, node}); }
  /// The last node that has ended then; none if there is none.
  [[nodiscard]] std::uint32_t ended_by(RunTime time) const {
    const auto after = std::ranges::upper_bound(nodes_, time, {}, &Entry::end);
    return after == nodes_.begin() ? no_row : std::prev(after)->node;
  }
  [[nodiscard]] std::uint32_t last() const { return nodes_.empty() ? no_row : nodes_.back().node; }
  [[nodiscard]] bool empty() const { return nodes_.empty(); }

 private:
  struct Entry {
    RunTime end;
    std::uint32_t node;
  };
  std::vector<Entry> nodes_;
};

}  // namespace rankscope::analyzer::replay
