// Overwrites secrets in the bytes of a segment. Nothing changes its length, so that all records stay where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rankscope/core/recording/format.h"

namespace rankscope::recording {

/// In the strings of a chunk, and whole values that stand under a name such as "api_token". A string that has such a
/// value and also another use in its chunk is overwritten for both. Returns how many secrets were hidden.
std::uint64_t scrub_payload(std::span<std::byte> payload);

/// In the name of the program. Who writes the header computes its checksums afterwards.
std::uint64_t scrub_header(SegmentStatic& fixed);

}  // namespace rankscope::recording
