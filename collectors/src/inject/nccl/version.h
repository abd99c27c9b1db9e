// Which NCCL the process has.
#pragma once

#include "rankscope/core/recording/thread_writer.h"

namespace rankscope::inject::nccl {

/// Writes metadata "nccl_version" ("2.28.9", or "unknown"), once per recording of a process.
void report_version(recording::ThreadWriter& pen) noexcept;

}  // namespace rankscope::inject::nccl
