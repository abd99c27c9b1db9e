// Hides credentials in the texts of one chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankscope::recording {

/// Overwrites secrets in the strings of a payload, and whole values that stand under a name such as "api_token".
/// Nothing changes its length, so the records stay where they are. Returns how many were hidden.
std::uint64_t scrub_payload(std::span<std::byte> payload);

}  // namespace rankscope::recording
