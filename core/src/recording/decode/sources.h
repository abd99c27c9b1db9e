// Where the segments of a recording lie, and which of their processes still run.
#pragma once

#include <filesystem>
#include <vector>

#include "recording/format/segment_file.h"

namespace rankscope::recording {

struct Sources {
  std::filesystem::path manifest;  ///< the folder that holds it
  std::vector<std::filesystem::path> segments;
};

/// Of a recording that is still made: what its recorders have on this host.
[[nodiscard]] Sources sources_of(const std::filesystem::path& recording);

/// The process runs on this host, and has not said that it exits.
[[nodiscard]] bool still_runs(const SegmentFile& segment);

}  // namespace rankscope::recording
