// Which NCCL the process has.
#pragma once

#include "rankscope/core/recording/thread_writer.h"

namespace rankscope::inject::nccl {

/// Writes metadata "nccl_version" ("2.28.9", or "unknown"), once per recording of a process.
void report_version(recording::ThreadWriter& pen) noexcept;

/// Before NCCL looks for its plugin: lets versions find ours that take a name and no path (2.27.3).
void prepare_for_plugin() noexcept;

}  // namespace rankscope::inject::nccl
