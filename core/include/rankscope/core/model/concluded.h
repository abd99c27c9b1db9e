// What an analysis concluded from a run, to be added to a copy of it (RunBuilder).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope {

/// A group that the recording does not name.
struct NewGroup {
  std::string_view name;
  std::vector<RankId> members;
};

/// What was concluded about a row of Run::collectives() that is a send or receive without a partner.
struct Partner {
  std::uint32_t row = 0;
  GroupId group{};  ///< a group of the run, or the n-th that is added
  RankId rank{};    ///< of the partner
};

/// A stretch of a track that was computed, not recorded.
struct TrackSpan {
  std::string name;
  TimeRange time;
  std::vector<std::pair<std::string, std::string>> attributes;
};

/// Computed for the whole job: it belongs to no rank. Its spans ascend and do not overlap.
struct NewTrack {
  std::string process;  ///< what it is shown as
  std::string lane;
  std::vector<TrackSpan> spans;
};

}  // namespace rankscope
