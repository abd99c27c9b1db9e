// What of a chunk has to stay if its events are thinned out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rankscope/core/recording/segment_writer.h"
#include "rankscope/core/recording/thread_writer.h"

namespace rankscope::recording {

/// Copies facts about the process (metadata, devices, communicators, names of threads) and, every ten seconds, a
/// reading of the clocks and the largest value of each counter. Of operations and ranges that have only one of their
/// two ends in what is given up, that end stays: it shows whether the other one ever comes. Of most operations of a
/// communication library no end is recorded: of each communicator only the last one stays.
class ChunkFacts {
 public:
  ChunkFacts(SegmentWriter& file, ThreadWriter& pen, std::uint64_t ticks_apart)
      : file_(&file), pen_(&pen), ticks_apart_(ticks_apart) {}
  /// Of one chunk; those of a thread in their order. Returns the number of events in it.
  std::uint64_t copy(std::span<const std::byte> payload, std::int64_t os_thread);
  /// False if a library reported a later operation of the communicator, in what is not given up.
  using IsLast = std::function<bool(std::string_view communicator, std::uint64_t ticks)>;
  /// Writes what is still held back, as far as there is room. After the chunks that are given up at once.
  void finish(const IsLast& is_last);

 private:
  struct Sampled {
    std::uint64_t begin = 0;  ///< ticks
    std::uint64_t ticks = 0;  ///< of the largest value
    double value = 0;
    bool is_pending = false;  ///< not written yet
  };
  struct Chunk;
  enum class Kind : std::uint8_t { operation, device, range };  ///< device: an operation, as an accelerator told it
  /// The first half of an operation or range whose second half was not given up.
  struct Begun {
    ThreadWriter::Collective fields{};
    std::string group, op, dtype, members;
    std::uint64_t enqueued = 0;  ///< ticks
    std::uint64_t started = 0;   ///< 0: not known
    bool is_written = false;
  };
  using Key = std::pair<Kind, std::uint64_t>;
  struct End {
    std::uint64_t ticks = 0;
    std::int64_t begin_ns = 0, end_ns = 0;  ///< Kind::device instead
  };
  /// The last operation of a communicator.
  struct Last {
    std::uint64_t uid = 0;
    Begun begun;
    bool has_ended = false;
  };
  void enqueued(const Chunk& chunk);
  void reported(std::uint64_t uid, Begun begun);
  void started(std::uint64_t uid, std::uint64_t ticks);
  void ended(Key key, const End& end);
  [[nodiscard]] bool is_end_of_library(Key key);
  void write(const Begun& begun, std::uint64_t uid);
  void write_end(Key key, const End& end);
  /// Calls a function that writes, with enough room before it. False if there was not enough for all.
  bool is_stored(const std::function<void()>& write);
  void copy_record(const Chunk& chunk, std::uint8_t type);
  void sample(const std::string& name, std::uint64_t ticks, double value);

  SegmentWriter* file_;
  ThreadWriter* pen_;
  std::uint64_t ticks_apart_;
  std::uint64_t writes_ = 0;
  std::map<std::string, Sampled> counters_;
  std::optional<std::uint64_t> clock_pair_;  // ticks of the last one that was copied
  std::map<std::uint8_t, std::uint64_t> anchors_;
  std::map<Key, Begun> begun_;
  std::map<Key, End> ends_;                                   // whose begins were not given up
  std::map<std::string, Last, std::less<>> last_of_library_;  // by communicator
  std::set<std::uint64_t> of_library_;                        // uids in what is given up at once
};

}  // namespace rankscope::recording
