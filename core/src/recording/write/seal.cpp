#include "recording/write/seal.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "rankscope/core/recording/format.h"
#include "recording/format/crc32c.h"

namespace rankscope::recording {
namespace {

void seal(ChunkHeader& chunk) {
  const std::uint32_t committed = chunk.committed.load(std::memory_order_acquire);
  chunk.payload_crc = crc32c(&chunk + 1, committed);
  chunk.header_crc = crc32c(&committed, sizeof committed, crc32c(&chunk, offsetof(ChunkHeader, committed)));
  chunk.state.store(static_cast<std::uint32_t>(ChunkState::sealed), std::memory_order_release);
}

void add_stretch(Stretch stretch, std::vector<Stretch>& rest) {
  if (stretch.from == stretch.to) return;
  if (!rest.empty() && rest.back().to == stretch.from)
    rest.back().to = stretch.to;
  else
    rest.push_back(stretch);
}

/// Returns its length, and whether it is sealed now. Nothing of a sealed chunk is read: its page may be gone.
struct Passed {
  std::uint64_t bytes = 0;
  bool is_sealed = false;
};

Passed pass(ChunkHeader& chunk) {
  // Before the capacity, which becomes less before a chunk is full.
  const std::uint32_t state = chunk.state.load(std::memory_order_acquire);
  const std::uint64_t bytes = chunk_header_bytes + std::atomic_ref{chunk.capacity}.load(std::memory_order_acquire);
  if (state == static_cast<std::uint32_t>(ChunkState::full)) seal(chunk);
  return {bytes, state != static_cast<std::uint32_t>(ChunkState::open)};
}

}  // namespace

void seal_stretch(std::byte* memory, Stretch stretch, std::uint64_t cut, std::vector<Stretch>& rest) {
  std::vector<Stretch> found;
  std::uint64_t begin = stretch.from;  // of the chunks since the last one that began with a page
  bool all_sealed = true;              // of these
  std::uint64_t at = stretch.from;
  for (const std::uint64_t end = std::min(stretch.to, cut); at < end;) {
    if (at % run_page_bytes == 0) {
      if (!all_sealed) add_stretch({begin, at}, found);
      begin = at;
      all_sealed = true;
    }
    auto& chunk = *std::launder(reinterpret_cast<ChunkHeader*>(memory + at));
    if (std::atomic_ref{chunk.magic}.load(std::memory_order_acquire) != chunk_magic) break;  // its thread makes it now
    const Passed passed = pass(chunk);
    all_sealed = all_sealed && passed.is_sealed;
    at += passed.bytes;
  }
  if (at < stretch.to)
    add_stretch({all_sealed ? at : begin, stretch.to}, found);
  else if (!all_sealed)
    add_stretch({begin, stretch.to}, found);
  rest.insert(rest.end(), found.begin(), found.end());
}

}  // namespace rankscope::recording
