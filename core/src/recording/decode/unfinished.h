// What began in a process and has no end in what is recorded of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "recording/format/segment_file.h"

namespace rankscope::recording {

/// Shown however old it is: it may be what the process hangs in.
struct Unfinished {
  std::set<const std::byte*> pushes;   ///< by the bodies of their records
  std::set<std::uint64_t> operations;  ///< uids
  std::set<std::uint64_t> ranges;      ///< handles
};

[[nodiscard]] Unfinished find_unfinished(const SegmentFile& segment);

}  // namespace rankscope::recording
