// Raw activity records in a file, from which tests play a device that they do not have.
#pragma once

#include <cstdint>
#include <span>

#include "cupti/library.h"

namespace rankscope::inject::cupti {

/// Appends a buffer that CUPTI handed back to the file that RANKSCOPE_CUPTI_DUMP names; nothing without. What would
/// make the file larger than 4 MiB is left out, whole buffers at a time.
void dump_if_asked(const collectors::cupti::Library& library, std::span<std::uint8_t> buffer);

}  // namespace rankscope::inject::cupti
