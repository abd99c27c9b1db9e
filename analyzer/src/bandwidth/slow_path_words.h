// Slow groups and links in words.
#pragma once

#include <string>

#include "rankscope/analyzer/bandwidth/section.h"

namespace rankscope::analyzer {

/// "30 kB to 100 kB", "below 1 kB", "from 100 GB on"
[[nodiscard]] std::string size_text(const SizeClass& size);
/// "172 MB/s", from bytes per ns
[[nodiscard]] std::string speed_text(double gbps);
/// "group tp (ranks 0–3) moves data at 0.51 of the usual speed"
[[nodiscard]] std::string title_of(const SlowPath& path);
/// "allreduce of 1 MB to 3 MB at 4.1 GB/s, 3 like it at 8.2 GB/s (median)"
[[nodiscard]] std::string evidence_of(const SlowPath& path);

}  // namespace rankscope::analyzer
