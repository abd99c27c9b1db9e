// What the process does to the pages of its segment while a recorder thins the segment out.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <span>
#include <vector>

#include "rankscope/core/recording/format.h"
#include "recording/write/populate.h"
#include "recording/write/seal.h"

namespace rankscope::recording {
namespace {

constexpr std::uint64_t page = run_page_bytes;

/// Pages of nobody, which can be taken away.
class Pages {
 public:
  explicit Pages(std::uint64_t count) : bytes_(count * page) {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    memory_ = static_cast<std::byte*>(memory);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(memory_, bytes_); }
  [[nodiscard]] std::byte* memory() const { return memory_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {memory_, bytes_}; }
  /// Whoever reads these pages now gets a signal, as from a full file system in memory.
  void take_away(std::uint64_t first, std::uint64_t count) {
    ASSERT_EQ(mprotect(memory_ + first * page, count * page, PROT_NONE), 0);
  }
  ChunkHeader& chunk(std::uint64_t at, std::uint64_t bytes, ChunkState state) {
    auto& made = *new (memory_ + at) ChunkHeader{};
    made.magic = chunk_magic;
    made.capacity = static_cast<std::uint32_t>(bytes - chunk_header_bytes);
    made.state.store(static_cast<std::uint32_t>(state));
    return made;
  }

 private:
  std::byte* memory_ = nullptr;
  std::uint64_t bytes_;
};

bool is_sealed(const ChunkHeader& chunk) {
  return chunk.state.load() == static_cast<std::uint32_t>(ChunkState::sealed);
}

TEST(ChunkSpace, PagesThatAreReadiedForWritingKeepWhatStandsInThem) {
  for (const Faults faults : {Faults::at_once, Faults::one_by_one}) {
    const Pages pages{4};
    std::ranges::fill(pages.bytes(), std::byte{0x5A});
    make_writable(pages.memory(), pages.bytes().size(), faults);
    EXPECT_TRUE(std::ranges::all_of(pages.bytes(), [](std::byte byte) { return byte == std::byte{0x5A}; }));
  }
}

TEST(ChunkSpace, APageOfASealedChunkIsNeverReadAgain) {
  Pages pages{6};
  const ChunkHeader& first = pages.chunk(0, 2 * page, ChunkState::full);
  ChunkHeader& second = pages.chunk(2 * page, 2 * page, ChunkState::open);
  const ChunkHeader& third = pages.chunk(4 * page, 2 * page, ChunkState::full);
  std::vector<Stretch> rest;
  seal_stretch(pages.memory(), {0, 6 * page}, 6 * page, rest);
  EXPECT_TRUE(is_sealed(first));
  EXPECT_TRUE(is_sealed(third));
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].from, 2 * page);
  EXPECT_EQ(rest[0].to, 4 * page);
  pages.take_away(0, 2);
  pages.take_away(4, 2);
  second.state.store(static_cast<std::uint32_t>(ChunkState::full));
  std::vector<Stretch> none;
  seal_stretch(pages.memory(), rest[0], 6 * page, none);
  EXPECT_TRUE(is_sealed(second));
  EXPECT_TRUE(none.empty());
}

TEST(ChunkSpace, ASealedChunkThatSharesAPageIsLookedAtUntilItsNeighbourIsSealed) {
  Pages pages{3};
  pages.chunk(0, page + 512, ChunkState::full);
  ChunkHeader& sharing = pages.chunk(page + 512, page - 512, ChunkState::open);
  pages.chunk(2 * page, page, ChunkState::full);
  std::vector<Stretch> rest;
  seal_stretch(pages.memory(), {0, 3 * page}, 3 * page, rest);
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].from, 0U);
  EXPECT_EQ(rest[0].to, 2 * page);
  sharing.state.store(static_cast<std::uint32_t>(ChunkState::full));
  std::vector<Stretch> none;
  seal_stretch(pages.memory(), rest[0], 3 * page, none);
  EXPECT_TRUE(none.empty());
}

TEST(ChunkSpace, WhatIsNotCutIntoChunksYetIsLookedAtLater) {
  Pages pages{4};
  pages.chunk(0, page, ChunkState::full);
  std::vector<Stretch> rest;
  seal_stretch(pages.memory(), {0, 4 * page}, 2 * page, rest);  // the second one is made just now
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].from, page);
  EXPECT_EQ(rest[0].to, 4 * page);
}

}  // namespace
}  // namespace rankscope::recording
