// One segment file that is still written to, followed from its begin.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "recording/format/segment_file.h"

namespace rankscope::recording {

/// Whole records of one thread that follow on what it has written before.
struct LivePiece {
  std::uint32_t thread = 0;
  bool begins_chunk = false;  ///< string ids start anew
  std::span<const std::byte> payload;
  std::int64_t os_thread = 0;
};

/// A chunk to which nothing is written any more, and which has been read.
struct LiveChunk {
  std::uint64_t offset = 0;  ///< of its header
  std::uint64_t bytes = 0;   ///< with its header
  std::uint32_t thread = 0;  ///< or free_thread
  std::uint32_t sequence = 0;
};

/// Who follows a segment: its recorder gives up only what it has read, so that no chunk moves ahead of it.
enum class Follower : std::uint8_t { anybody, its_recorder };

class LiveSegment {
 public:
  explicit LiveSegment(std::filesystem::path path, Follower follower = Follower::anybody)
      : path_(std::move(path)), follower_(follower) {}
  LiveSegment(LiveSegment&& other) noexcept;
  LiveSegment& operator=(LiveSegment&& other) = delete;
  ~LiveSegment();

  /// Hands what is new to `take`, of each thread in its order, `budget` bytes at most, which threads share. False:
  /// nothing can be read (yet).
  bool poll(std::uint64_t budget, const std::function<void(const LivePiece&)>& take);
  /// Until the next poll.
  void close_file();

  /// Nothing before the first poll that returned true.
  [[nodiscard]] const std::optional<SegmentStatic>& fixed() const { return fixed_; }
  [[nodiscard]] const SegmentCounters& counters() const { return counters_; }
  /// Of the last poll: bytes that were handed on, and those that are known but were too many.
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  [[nodiscard]] std::uint64_t behind() const { return behind_; }
  /// Of the last poll: threads that wrote more than was handed on.
  [[nodiscard]] const std::set<std::uint32_t>& waiting() const { return waiting_; }
  /// Of the last poll: chunks that came to their end.
  [[nodiscard]] std::span<const LiveChunk> ended() const { return ended_; }
  /// Something in the file is no chunk, or not the one that it was: it is not read on.
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  struct Followed {
    std::uint64_t offset = 0;  ///< of its header
    RawChunk header{};
    std::uint32_t taken = 0;
    bool is_gone = false;  ///< thinned out before it was read
  };
  bool open_file();
  bool read_page();
  void find_chunks();
  void look_around();
  void lose_track();
  [[nodiscard]] bool is_thinned_out() const;
  /// Up to where chunks were found, and whether what stands there is damage.
  struct Found {
    std::uint64_t end = 0;
    bool is_clean = true;
  };
  void find_everywhere();
  void find_reused();
  Found find_chunks_in(PageRun run);
  void skip_thinned(const std::vector<Followed*>& taken);
  void find_rest(std::uint64_t begin, std::uint64_t end);
  /// What it says now; false if it cannot be read.
  bool read_header(Followed& chunk, RawChunk& header);
  void refresh(Followed& chunk);
  void refresh_all();
  /// What may still be read in this poll.
  struct Budget {
    std::uint64_t all = 0;
    std::uint64_t of_each_thread = 0;
    std::map<std::uint32_t, std::uint64_t> taken{};  ///< by thread
  };
  [[nodiscard]] static Budget shared(std::uint64_t budget, const std::vector<Followed*>& chunks);
  /// False: it is not at its end yet, or the budget is.
  bool follow(Followed& chunk, Budget& budget, const std::function<void(const LivePiece&)>& take);
  void follow_all(std::span<Followed* const> taken, Budget& budget, const std::function<void(const LivePiece&)>& take);
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> into) const;

  std::filesystem::path path_;
  Follower follower_;
  int file_ = -1;  // stays open: what was written can be read even when the file has been removed
  std::optional<SegmentStatic> fixed_;
  SegmentCounters counters_;
  std::vector<Followed> chunks_;  // not at their end yet
  std::vector<Followed> found_;   // in what threads that have ended left of their chunks
  std::map<std::uint32_t, std::uint32_t> next_sequence_;
  std::map<std::uint32_t, std::uint32_t> missing_;  // by thread, the next one, which was not found in the last poll
  std::array<std::uint64_t, most_handed_back> runs_{};
  std::uint64_t reused_ = 0;  // runs of which the chunks were looked for
  std::vector<LiveChunk> ended_;
  std::uint64_t next_chunk_ = 0;  // offset of the first chunk that was not seen yet
  std::uint64_t taken_ = 0;
  std::uint64_t behind_ = 0;
  std::set<std::uint32_t> waiting_;
  int lost_ = 0;  // polls since whole chunks stood one behind the other
  bool looks_everywhere_ = false;
  std::uint64_t polls_ = 0;
  bool damaged_ = false;
  std::vector<std::byte> buffer_;
};

}  // namespace rankscope::recording
