// Overwrites secrets in the bytes of a segment. Nothing changes its length, so that all records stay where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankscope::recording {

/// In the strings of a chunk, and whole values that stand under a name such as "api_token". A string that has such a
/// value and also another use in its chunk is overwritten for both. Returns how many secrets were hidden.
std::uint64_t scrub_payload(std::span<std::byte> payload);

/// In the name of the program, in the first page of a segment, whose checksum is renewed.
std::uint64_t scrub_header(std::span<char> page);

}  // namespace rankscope::recording
