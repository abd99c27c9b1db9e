// What of a chunk has to stay if its events are thinned out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "rankscope/core/recording/thread_writer.h"

namespace rankscope::recording {

/// Copies facts about the process (metadata, devices, communicators, names of threads) and, every ten seconds, a
/// reading of the clocks and the largest value of each counter. Of operations and ranges that have only one of their
/// two ends in what is given up, that end stays: it shows whether the other one ever comes.
class ChunkFacts {
 public:
  ChunkFacts(ThreadWriter& pen, std::uint64_t ticks_apart) : pen_(&pen), ticks_apart_(ticks_apart) {}
  /// Of one chunk; those of a thread in their order. Returns the number of events in it.
  std::uint64_t copy(std::span<const std::byte> payload, std::int64_t os_thread);
  /// Writes what is still held back. After the chunks that are given up at once.
  void finish();

 private:
  struct Sampled {
    std::uint64_t begin = 0;  ///< ticks
    std::uint64_t ticks = 0;  ///< of the largest value
    double value = 0;
    bool is_pending = false;  ///< not written yet
  };
  struct Chunk;
  enum class Kind : std::uint8_t { operation, range };
  /// The first half of an operation or range whose second half was not given up.
  struct Begun {
    ThreadWriter::Collective fields{};
    std::string group, op, dtype, members;
    std::uint64_t enqueued = 0;  ///< ticks
    std::uint64_t started = 0;   ///< 0: not known
    bool is_written = false;
  };
  using Key = std::pair<Kind, std::uint64_t>;
  void enqueued(const Chunk& chunk);
  void started(std::uint64_t uid, std::uint64_t ticks);
  void ended(Key key, std::uint64_t ticks);
  void write(Begun& begun, std::uint64_t uid);
  void copy_record(const Chunk& chunk, std::uint8_t type);
  void sample(const std::string& name, std::uint64_t ticks, double value);

  ThreadWriter* pen_;
  std::uint64_t ticks_apart_;
  std::map<std::string, Sampled> counters_;
  std::optional<std::uint64_t> clock_pair_;  // ticks of the last one that was copied
  std::map<std::uint8_t, std::uint64_t> anchors_;
  std::map<Key, Begun> begun_;
  std::map<Key, std::uint64_t> ends_;  // whose begins were not given up, by ticks
};

}  // namespace rankscope::recording
