// What the process of a segment recorded at most.
#pragma once

#include "rankscope/core/recording/work_level.h"
#include "recording/format/segment_file.h"

namespace rankscope::recording {

/// Reads records only until it is known that the process works.
[[nodiscard]] WorkLevel work_level_of(const SegmentFile& segment);

/// The process has a rank of its own: from a variable, or from a communicator.
[[nodiscard]] bool has_rank(const SegmentFile& segment);
/// It was only sampled from outside.
[[nodiscard]] bool is_watched(const SegmentFile& segment);

}  // namespace rankscope::recording
