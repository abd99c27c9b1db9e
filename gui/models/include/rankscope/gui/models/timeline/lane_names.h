// Names of lanes, counters and accelerators, as people know them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::gui {

/// "pt_autograd_0 · 3196065" for a thread with its number; "stream 4 (NCCL)" for a stream on which communication runs.
[[nodiscard]] std::string lane_title(const Run& run, const Lane& lane);
/// The part of such a title that is the same on other ranks: without the number of a thread and what runs on a stream.
[[nodiscard]] std::string_view shared_title(std::string_view title);
/// A stream on which nearly nothing but communication runs.
[[nodiscard]] bool is_of_communication(const Run& run, const Lane& lane);
/// "Host memory (RSS)" for "rss_bytes", "GPU 0 DRAM read" for "GPU 0 dram_read_percent": without the unit.
[[nodiscard]] std::string counter_title(std::string_view counter);
/// It is of the host and its processes, not of an accelerator.
[[nodiscard]] bool is_of_host(std::string_view counter);
/// Models of the accelerators of each row of Run::processes(): "NVIDIA H100 80GB HBM3", "2 × NVIDIA A100"; empty where
/// they are not known.
[[nodiscard]] std::vector<std::string> accelerators_of(const Run& run);

}  // namespace rankscope::gui
