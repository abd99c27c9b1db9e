// Which operator or annotation of the host was open when something was allocated.
#pragma once

#include <vector>

#include "memory/series.h"

namespace rankscope::analyzer {

/// Walks each thread once, so it has to be asked in order of time.
class PlaceFinder {
 public:
  explicit PlaceFinder(const Run& run) : run_(run), walks_(run.lanes().size()) {}

  [[nodiscard]] PlaceNames at(LaneId lane, RunTime time);

 private:
  struct Open {
    RunTime end;
    PlaceNames outside;
  };
  struct Walk {
    std::size_t next = 0;  // span of the lane
    std::vector<Open> open;
    PlaceNames place;
  };

  const Run& run_;
  std::vector<Walk> walks_;  // by lane
};

}  // namespace rankscope::analyzer
