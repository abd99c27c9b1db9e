// Bytes of a file that others may write to meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankscope::recording {

/// Reads `into` completely, from `offset` of an open file on. False: the file is shorter, or cannot be read.
[[nodiscard]] bool read_fully(int file, std::uint64_t offset, std::span<std::byte> into);

}  // namespace rankscope::recording
