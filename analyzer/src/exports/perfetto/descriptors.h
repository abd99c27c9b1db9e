// The tracks of a Perfetto trace as descriptors: ranks in order, lanes inside them, counters last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exports/perfetto/plan.h"

namespace rankscope::analyzer::perfetto {

/// Packets with one descriptor each: the root, processes, devices where a process has several, tracks.
[[nodiscard]] std::string describe(const Run& run, const std::vector<Track>& tracks);

/// The first number that no process or device has.
[[nodiscard]] std::uint64_t first_track_uuid(const Run& run);

}  // namespace rankscope::analyzer::perfetto
