// Pages of a mapped file, readied for writing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankscope::recording {

/// Who takes the faults of first writing to the pages.
enum class Faults : std::uint8_t {
  at_once,     ///< the kernel, in one call (Linux 5.14); without it one by one
  one_by_one,  ///< this function, by an access to each page
};

/// Takes the faults of first writing here, not in the program's threads. What stands in the pages stays as it is, and
/// others may write to them meanwhile.
void make_writable(std::byte* memory, std::uint64_t bytes, Faults faults = Faults::at_once);

}  // namespace rankscope::recording
