// How large the segments of a recording were at most while it was made.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "rankscope/core/recording/manifest.h"
#include "recorded.h"

namespace rankscope::collectors::testing {

/// Looks at the spools in a folder from its construction on.
class SpoolPeak {
 public:
  explicit SpoolPeak(fs::path base)
      : base_(std::move(base)), thread_([this](const std::stop_token& stop) { run(stop); }) {}
  [[nodiscard]] std::uint64_t bytes() const { return peak_.load(); }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      peak_.store(std::max(peak_.load(), bytes_now()));
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
  }
  /// Segments come and go meanwhile.
  [[nodiscard]] std::uint64_t bytes_now() const {
    std::uint64_t bytes = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator entry{base_, error}, end; !error && entry != end; entry.increment(error)) {
      if (!entry->path().string().starts_with((base_ / "rankscope-").string())) continue;
      if (entry->path().extension() != recording::segment_suffix) continue;
      std::error_code gone;
      const auto size = fs::file_size(entry->path(), gone);
      if (!gone) bytes += size;
    }
    return bytes;
  }

  fs::path base_;
  std::atomic<std::uint64_t> peak_{0};
  std::jthread thread_;
};

/// The bound that docs/recording.md names.
inline std::uint64_t spool_bound(const Recorded& recorded, std::uint64_t living_processes) {
  return 2 * recorded.summary.bytes + living_processes * 64 * 1024;
}

}  // namespace rankscope::collectors::testing
