// Communicators that processes joined, of all segments of a recording.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/id.h"
#include "recording/format/segment_file.h"

namespace rankscope::recording {

/// Who is which rank of a communicator. Filled from all segments before the first is decoded.
class Communicators {
 public:
  void add(const SegmentFile& segment, RankId rank);
  /// True if some process joined it.
  [[nodiscard]] bool knows(std::string_view name) const { return known_.contains(name); }
  /// Ranks of the job that are known to have joined, in the communicator's order; ascending if nobody knows his place.
  [[nodiscard]] std::vector<RankId> members(std::string_view name) const;
  /// True if it has one rank only: nothing is communicated in it.
  [[nodiscard]] bool is_single(std::string_view name) const;
  /// The rank of the job, or none.
  [[nodiscard]] RankId rank_of(std::string_view name, std::int64_t place) const;

 private:
  struct Known {
    std::uint32_t ranks = 0;
    std::map<std::int32_t, RankId> by_place;
    std::vector<RankId> without_place;
  };
  std::map<std::string, Known, std::less<>> known_;
};

}  // namespace rankscope::recording
