#include "recording/write/populate.h"

#include <sys/mman.h>

#include <atomic>

namespace rankscope::recording {
namespace {

constexpr std::uint64_t touched_page_bytes = 4096;

}  // namespace

// MAP_POPULATE maps shared pages for reading only, and each first write would cost some microseconds.
void make_writable(std::byte* memory, std::uint64_t bytes, Faults faults) {
#ifdef MADV_POPULATE_WRITE
  if (faults == Faults::at_once && madvise(memory, bytes, MADV_POPULATE_WRITE) == 0) return;
#else
  static_cast<void>(faults);
#endif
  for (std::uint64_t at = 0; at < bytes; at += touched_page_bytes)
    std::atomic_ref{*reinterpret_cast<std::uint8_t*>(memory + at)}.fetch_or(0, std::memory_order_relaxed);
}

}  // namespace rankscope::recording
