// What of a chunk has to stay if its events are thinned out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "rankscope/core/recording/thread_writer.h"

namespace rankscope::recording {

/// Copies facts about the process (metadata, devices, communicators, names of threads) and, every ten seconds, a
/// reading of the clocks and the largest value of each counter.
class ChunkFacts {
 public:
  ChunkFacts(ThreadWriter& pen, std::uint64_t ticks_apart) : pen_(&pen), ticks_apart_(ticks_apart) {}
  /// Of one chunk; those of a thread in their order. Returns the number of events in it.
  std::uint64_t copy(std::span<const std::byte> payload, std::int64_t os_thread);

 private:
  struct Sampled {
    std::uint64_t begin = 0;  ///< ticks
    std::uint64_t ticks = 0;  ///< of the largest value
    double value = 0;
  };
  struct Chunk;
  void copy_record(const Chunk& chunk, std::uint8_t type);
  void sample(const std::string& name, std::uint64_t ticks, double value);

  ThreadWriter* pen_;
  std::uint64_t ticks_apart_;
  std::map<std::string, Sampled> counters_;
  std::optional<std::uint64_t> clock_pair_;  // ticks of the last one that was copied
  std::map<std::uint8_t, std::uint64_t> anchors_;
};

}  // namespace rankscope::recording
