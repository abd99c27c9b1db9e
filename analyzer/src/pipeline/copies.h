// One action of a pipeline that was recorded on several streams.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/marks.h"

namespace rankscope::analyzer {

struct RecordedAction {
  MarkedAction marked;
  std::uint32_t lane = 0;  ///< of the run
};

/// By begin, and each action once: a GPU annotation is written once per stream that it has work on (kineto.md 3).
/// Copies are the same action on another stream, at the same time or with no other action of the rank between; together
/// they last from the first begin to the last end.
[[nodiscard]] std::vector<MarkedAction> without_copies(std::vector<RecordedAction> recorded);

}  // namespace rankscope::analyzer
