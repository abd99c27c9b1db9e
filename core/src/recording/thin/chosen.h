// Which chunks of a segment are given up at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "rankscope/core/time.h"
#include "recording/format/segment_file.h"
#include "recording/thin/chunk_file.h"

namespace rankscope::recording {

/// A chunk to which nothing is written any more.
struct ReadChunk {
  std::uint64_t bytes = 0;
  std::uint32_t thread = 0;
  std::uint32_t sequence = 0;
  HostTime seen{};                        ///< on the clock of the process; all of its events happened before
  std::uint64_t seen_ticks = 0;           ///< the same moment; 0: not known
  std::optional<std::uint64_t> events{};  ///< in it, once its facts are stored
  std::uint64_t last_ticks = 0;           ///< of its last event, from then on; 0: not known
  bool is_listed = false;                 ///< as given up
  bool is_in_use = false;                 ///< it was old when chunks were chosen, but could not go
};

using ReadChunks = std::map<std::uint64_t, ReadChunk>;  // by offset

/// Chunks that follow on one another.
struct ChosenRun {
  PageRun run;
  std::vector<std::uint64_t> chunks{};  // offsets
  HostTime seen{};                      // of the latest
};

/// What is given up at once, of one segment.
struct Chosen {
  std::vector<ChosenRun> runs;
  bool is_all = true;  // of what is old

  [[nodiscard]] std::vector<std::uint64_t> chunks() const {
    std::vector<std::uint64_t> all;
    for (const ChosenRun& one : runs) all.insert(all.end(), one.chunks.begin(), one.chunks.end());
    return all;
  }
};

struct Wanted {
  HostTime until{};
  std::uint64_t budget = 0;    ///< bytes, about
  bool process_ended = false;  ///< then chunks that it did not seal may go, too
};
/// The oldest chunks, in runs of whole pages; at least one run if there is any. Marks old ones that cannot go.
[[nodiscard]] Chosen choose(ReadChunks& read, const Wanted& wanted, const ChunkFile& file);

}  // namespace rankscope::recording
