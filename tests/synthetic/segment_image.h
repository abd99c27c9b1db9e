// A segment of a recording with times of one's choice: what SegmentWriter writes at the time of now (FORMAT.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rankscope/core/model/span.h"
#include "rankscope/core/recording/format.h"

namespace rankscope::synthetic {

/// What the clocks of a host show at a true time, in ns from the start of the run.
struct HostClock {
  std::int64_t boot_ns = 0;  ///< CLOCK_MONOTONIC at time 0
  std::int64_t skew_ns = 0;  ///< its wall clock is ahead by this much
  double drift = 0;          ///< both run fast by this share
  [[nodiscard]] std::int64_t monotonic(std::int64_t true_ns) const {
    return boot_ns + true_ns + static_cast<std::int64_t>(drift * static_cast<double>(true_ns));
  }
  [[nodiscard]] recording::ClockPair pair(std::int64_t true_ns) const;
};

/// The records of one thread, in the order of their times.
class ThreadImage {
 public:
  ThreadImage(std::int64_t os_thread, const HostClock& clock) : os_thread_(os_thread), clock_(clock) {}

  void push(SpanKind kind, std::string_view name, std::int64_t time);
  void pop(std::int64_t time);
  void attribute(std::string_view key, std::int64_t value);
  void attribute(std::string_view key, std::string_view value);
  struct Enqueued {
    std::uint64_t uid = 0;
    std::int64_t sequence = 0;
    std::int64_t bytes = 0;
    std::string_view group;
    std::string_view op;
    std::string_view members;
    std::int32_t peer = -1;
  };
  void enqueued(const Enqueued& operation, std::int64_t time);
  void started(std::uint64_t uid, std::int64_t time);
  void finished(std::uint64_t uid, std::int64_t time);
  void communicator(std::string_view name, std::uint32_t ranks, std::int32_t rank);
  /// A kernel that this thread launches, 1 us after it began to.
  struct Kernel {
    std::string_view name;
    SpanKind kind = SpanKind::comm;
    std::int64_t launched = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::uint32_t correlation = 0;  ///< another one for each launch of the process
  };
  void kernel(const Kernel& kernel);
  void counter(std::string_view name, std::int64_t time, double value);
  void thread_name(std::string_view name, std::int64_t time);
  void metadata(std::string_view key, std::string_view value);
  void clock_pair(std::int64_t time);

  [[nodiscard]] std::int64_t os_thread() const { return os_thread_; }
  [[nodiscard]] const std::vector<std::vector<std::uint64_t>>& chunks() const { return chunks_; }

 private:
  [[nodiscard]] std::uint64_t ticks(std::int64_t time) const {
    return static_cast<std::uint64_t>(clock_.monotonic(time));
  }
  void record(recording::RecordType type, std::uint8_t code, std::uint32_t name,
              std::initializer_list<std::uint64_t> words);
  void room(std::size_t words);
  std::uint32_t id(std::string_view text);

  std::int64_t os_thread_;
  HostClock clock_;
  std::vector<std::vector<std::uint64_t>> chunks_;      // payloads, in words
  std::unordered_map<std::string, std::uint32_t> ids_;  // of the last chunk
};

/// One process.
struct ProcessImage {
  std::int32_t rank = 0;
  std::int32_t world_size = 1;
  std::int32_t local_rank = 0;
  std::string host;
  std::int64_t end_ns = 0;  ///< true time of its exit
  HostClock clock{};
  std::deque<ThreadImage> threads{};  ///< the main thread first
};

/// Throws std::runtime_error if the file cannot be written.
void write_segment(const ProcessImage& process, const std::filesystem::path& path);

}  // namespace rankscope::synthetic
