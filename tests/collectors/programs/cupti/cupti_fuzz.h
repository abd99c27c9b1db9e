// Buffers of activity records of random kinds, lengths and contents.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankscope::testing {

struct FuzzedGpu {
  std::uint32_t version = 0;
  std::uint64_t (*now)() = nullptr;
  void (*hand_over)(const void* bytes, std::size_t count) = nullptr;
};

/// Hands over some hundred buffers from several threads, the same in every run, and says how many records in them must
/// be found again: as a span, a mark, or counted. The status of the program.
int play_fuzz(const FuzzedGpu& gpu);

}  // namespace rankscope::testing
