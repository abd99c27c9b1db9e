// What a run consists of, and that there is one: for headers that only name it. Who reads a run includes run.h.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/core/model/attributes.h"
#include "rankscope/core/model/collective.h"
#include "rankscope/core/model/process.h"
#include "rankscope/core/model/quality.h"
#include "rankscope/core/model/span.h"
#include "rankscope/core/string_table.h"

namespace rankscope {

class Run;

/// How the clocks of the ranks were brought together (metrics.md 7); claims between ranks below `error` are refused.
struct ClockInfo {
  std::string method = "none";  ///< "same_host", "wall_clock", "none", ...
  nanoseconds error{0};
  bool operator==(const ClockInfo&) const = default;
};

/// Facts about the whole run.
struct RunInfo {
  std::string source = "rankscope";  ///< "rankscope", "kineto", "nsys"
  std::int64_t world_size = 0;       ///< 0 = not recorded
  std::int64_t origin_unix_ns = 0;   ///< wall-clock time of run time 0; 0 = not recorded
  ClockInfo clock;
  std::vector<std::pair<std::string, std::string>> metadata;  ///< sorted by key; never what was injected as a fault
  std::vector<QualityPlace> places;  ///< of counts in Run::quality() whose place is known; the rest has none
};

}  // namespace rankscope
