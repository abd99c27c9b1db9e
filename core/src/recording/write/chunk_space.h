// The chunks of a live segment: cut out of its file as threads need them, so that the file is hardly larger than what
// was written to it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "rankscope/core/own_file.h"
#include "rankscope/core/recording/format.h"
#include "rankscope/core/result.h"
#include "recording/write/seal.h"

namespace rankscope::recording {

/// Of the header page and the first extent, from which the first chunks are cut.
inline constexpr std::uint64_t first_file_bytes = 32 * 1024;
/// Of the first chunk of a thread, header included; further ones grow with what the thread has written.
inline constexpr std::uint32_t first_chunk_bytes = 8 * 1024;

/// Whether what ended threads left of their chunks will do: a busy thread would be back for the next chunk at once.
enum class Rests : std::uint8_t { allowed, not_allowed };

/// Where the file grows, and in which order its parts are used up. take() and hand_on() may be called by any thread at
/// any time, make_room() and seal_full_chunks() by one thread at a time.
///
/// The file grows by extents; half of what is used already is kept ready. A thread that finds nothing ready allocates
/// by itself, until `burst_bytes` were used since the last make_room(): whatever a program does, no more than that may
/// wait for the disk.
class ChunkSpace {
 public:
  /// `refused` counts where the file could not grow.
  ChunkSpace(std::filesystem::path path, OwnFile file, std::uint64_t burst_bytes, std::atomic<std::uint64_t>& refused);
  ChunkSpace(const ChunkSpace&) = delete;
  ChunkSpace& operator=(const ChunkSpace&) = delete;
  ~ChunkSpace();

  /// Maps the extent behind the header page, which was allocated with it. Before all else.
  [[nodiscard]] Result<void> begin();
  /// A chunk with room for `payload` bytes that belongs to nobody; of about `wish` bytes, unless a rest serves. Null:
  /// there is none.
  [[nodiscard]] ChunkHeader* take(std::uint32_t payload, std::uint32_t wish, Rests rests);
  /// The thread of a chunk has ended after `used` bytes: another one gets the rest.
  void hand_on(ChunkHeader& chunk, std::uint32_t used);
  /// Keeps room ready ahead of the threads.
  void make_room();
  /// Takes runs of chunks that were handed back, since their events have been thinned out, to be written to again. Some
  /// of them: about 1 MiB in one call.
  void take_back(SegmentHeader& header);
  /// Seals full chunks and unmaps extents that hold nothing else.
  void seal_full_chunks();
  /// In the child of a fork, which writes nothing to this file.
  void close_file() { file_ = OwnFile{}; }

 private:
  struct Extent {
    std::byte* memory = nullptr;
    std::uint64_t begin = 0;  ///< in the file
    std::uint64_t bytes = 0;
    std::atomic<std::uint64_t> cut{0};  ///< up to here it consists of chunks
    std::atomic<Extent*> next{nullptr};
  };
  /// A part of an extent that is still mapped. It consists of chunks, as far as it is cut.
  struct Mapped {
    Extent* extent = nullptr;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::shared_ptr<Extent> owner{};  ///< of a run that was taken back; the others are in the chain
    std::vector<Stretch> unsealed{};  ///< of the extent; the rest is not looked at again

    /// What is left of it between these bytes of its extent.
    [[nodiscard]] Mapped cut_to(std::uint64_t begin, std::uint64_t end) const;
  };
  /// A place for a chunk. Nobody looks into a chunk who has not taken it, so its size stands beside it.
  struct Offer {
    std::atomic<ChunkHeader*> chunk{nullptr};
    std::atomic<std::uint32_t> capacity{0};  ///< may be that of the chunk before
  };
  [[nodiscard]] ChunkHeader* cut(Extent& extent, std::uint64_t least, std::uint64_t wish);
  bool advance(Extent& extent);
  void leave(Extent& extent);
  bool grow(std::uint64_t least);
  [[nodiscard]] int add_extent(std::unique_ptr<Extent> extent, std::uint64_t bytes, bool is_allocated);
  [[nodiscard]] int map_more(Extent& extent, const PageRun& run, bool is_allocated);
  [[nodiscard]] static bool is_one_chunk(const Extent& extent);
  [[nodiscard]] static std::uint64_t pieces_of(const PageRun& run);
  static void split(const Extent& extent, std::uint64_t pieces);
  [[nodiscard]] std::shared_ptr<Extent> map_run(const PageRun& run);
  [[nodiscard]] bool is_usable(const PageRun& run);
  [[nodiscard]] bool add_ahead(std::unique_ptr<Extent> extent, std::uint64_t used);
  void find_new_extents();
  [[nodiscard]] bool is_in_use(const PageRun& run);
  void unmap_run(const PageRun& run);
  [[nodiscard]] int writable_file();
  [[nodiscard]] bool may_grow() const;
  static constexpr std::size_t most_offered = 256;
  struct Offers {
    std::array<Offer, most_offered> places{};
    std::atomic<std::uint32_t> count{0};
  };
  static void offer(ChunkHeader& chunk, Offers& offers);
  [[nodiscard]] static bool put(ChunkHeader& chunk, Offers& offers, Offer& place);
  [[nodiscard]] static ChunkHeader* take_from(Offers& offers, std::uint32_t payload);

  std::filesystem::path path_;
  std::uint64_t burst_bytes_;
  std::atomic<std::uint64_t>& refused_;
  std::mutex growing_;  // guards the file, its size and last_; who holds it allocates no memory of the C library
  OwnFile file_;
  std::atomic<std::uint64_t> file_bytes_;  // changes under growing_ only
  std::atomic<Extent*> first_{nullptr};    // of a chain; none is freed earlier: a thread may still look at it
  Extent* last_ = nullptr;
  std::atomic<Extent*> current_{nullptr};     // from which chunks are cut
  std::atomic<std::uint64_t> used_bytes_{0};  // of all extents
  std::atomic<std::uint64_t> usable_bytes_;   // up to here threads may let it grow before the next make_room()
  std::atomic<bool> is_full_{false};          // the file could not grow since then
  std::vector<Mapped> mapped_;                // only seal_full_chunks() and take_back() touch these two
  Extent* newest_ = nullptr;
  Offers rests_;    // of threads that have ended
  Offers emptied_;  // chunks of runs that were taken back
};

}  // namespace rankscope::recording
