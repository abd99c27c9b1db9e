// The local half of data loading (metrics.md 2.8): what one rank's threads did for its data, whichever steps count.
#pragma once

#include <vector>

#include "rankscope/core/digest/part_bytes.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// Waits and loads of one rank.
struct DataLoadingPart {
  std::vector<TimeRange> waits;               ///< outermost ones, by begin
  std::vector<std::vector<TimeRange>> loads;  ///< per worker, by begin
  bool own_thread = false;                    ///< the one that waits loads the batches itself

  [[nodiscard]] bool empty() const { return waits.empty() && loads.empty(); }
  bool operator==(const DataLoadingPart&) const = default;
};
[[nodiscard]] DataLoadingPart local_data_loading(const Run& run, RankId rank);

void write_part(digest::PartWriter& out, const DataLoadingPart& part);
/// Where the reader has failed, the part means nothing.
[[nodiscard]] DataLoadingPart read_data_loading_part(digest::PartReader& in);

}  // namespace rankscope::analyzer
