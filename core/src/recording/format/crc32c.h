// CRC-32C (Castagnoli), as chunks are checked with.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankscope::recording {

/// Uses the processor's instruction where there is one.
[[nodiscard]] std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t seed = 0);

}  // namespace rankscope::recording
