// Between which times the events of a chunk lie.
#pragma once

#include <cstdint>
#include <optional>

#include "recording/format/segment_file.h"

namespace rankscope::recording {

struct ChunkTicks {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
/// Nothing if the chunk has no time, or records that were written after the event (FORMAT.md): then what comes before
/// or after the chunk may have any time.
[[nodiscard]] std::optional<ChunkTicks> ticks_of(const Chunk& chunk);

}  // namespace rankscope::recording
