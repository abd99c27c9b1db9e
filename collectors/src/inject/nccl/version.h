// Which NCCL the process has.
#pragma once

#include "rankscope/core/recording/thread_writer.h"

namespace rankscope::inject::nccl {

/// The NCCL of the process is AMD's.
[[nodiscard]] bool is_rccl() noexcept;

/// Writes metadata "nccl_version" ("2.28.9", "2.27.7 (RCCL)", or "unknown"), once per recording of a process.
void report_version(recording::ThreadWriter& pen) noexcept;

/// Before NCCL looks for its plugin: lets versions find ours that take a name and no path (2.27.3).
void prepare_for_plugin() noexcept;

}  // namespace rankscope::inject::nccl
