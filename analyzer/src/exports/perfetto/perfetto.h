// Perfetto's own trace format (TrackEvent packets in protobuf): exact nanoseconds, about a quarter of the JSON's size.
#pragma once

#include <filesystem>

#include "rankscope/analyzer/export.h"

namespace rankscope::analyzer {

/// One track per lane (further ones where spans overlap without nesting) and counter, each a packet sequence with its
/// own interned strings; ranks are processes in order. Deterministic.
[[nodiscard]] Result<void> write_perfetto(const Run& run, const std::filesystem::path& out, const Progress& progress);

}  // namespace rankscope::analyzer
