// A recording while it is made: what its processes have written up to now. Only read, so that nothing disturbs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/core/time.h"

namespace rankscope::recording {

/// Where the time of a step went on one process. The parts add up to its duration; an instant that has several of them
/// counts as the first one here.
struct LiveSplit {
  nanoseconds compute{0};        ///< on the device where one is recorded, else on the host
  nanoseconds communication{0};  ///< what waits for other ranks is in it: only all ranks together tell that
  nanoseconds copies{0};         ///< on the device
  nanoseconds data{0};           ///< the thread of the steps waits for its loader
  nanoseconds wait{0};           ///< that thread is blocked
  nanoseconds other{0};
  bool operator==(const LiveSplit&) const = default;
};

/// A step that has ended, in the clock of its host: steps of several hosts cannot be compared by their begins.
struct LiveStep {
  std::int64_t index = 0;  ///< as the program numbers it, else counted from 0
  HostTime begin{};
  nanoseconds duration{0};
  std::optional<LiveSplit> split{};  ///< none: what it did may still be told, or it was too much to keep
};

/// One point of a LiveCurve, which stands for a whole stretch of time.
struct LiveValue {
  HostTime time{};
  double value = 0;
};

/// A counter in bytes: the largest value of each stretch of time. Stretches get longer with the run.
struct LiveCurve {
  std::string name;
  std::vector<LiveValue> values;
};

/// What one process has written so far.
struct LiveProcess {
  std::int64_t pid = 0;
  std::int32_t rank = -1;  ///< -1: not known
  std::string program;
  bool watched = false;           ///< only sampled from outside: it tells no events
  bool ended = false;             ///< it said so
  std::uint64_t events = 0;       ///< spans, marks, operations and activities so far
  std::uint64_t marks = 0;        ///< of these: marks
  std::uint64_t dropped = 0;      ///< the ring was full, or the disk
  std::uint64_t steps = 0;        ///< that have ended
  std::vector<LiveStep> last{};   ///< of these, the oldest first
  std::vector<LiveCurve> memory;  ///< by name; without empty ones
};

/// All processes at one moment, and how much of what they wrote could not be looked at.
struct LiveView {
  std::vector<LiveProcess> processes{};  ///< by rank, those without one last; then by pid
  std::uint64_t behind_bytes = 0;        ///< written, but not looked at yet
  std::uint64_t unreadable = 0;          ///< segments that cannot be read, or not on; recorders whose folder is gone
  std::uint64_t left_out = 0;            ///< segments beyond LiveLimits::segments
  std::uint64_t elsewhere = 0;           ///< recorders whose segments are on other hosts
};

/// What is kept and done at most, whatever the run does.
struct LiveLimits {
  std::size_t steps = 256;                     ///< of each process
  std::size_t values = 512;                    ///< of each curve
  std::size_t stretches = 1U << 17;            ///< of each process that are not accounted for yet
  std::size_t segments = 256;                  ///< each costs an open file; those that ended without steps make room
  std::uint64_t bytes_per_poll = 64ULL << 20;  ///< the rest waits for the next one
  nanoseconds device_delay{3'000'000'000};     ///< after which a device has told what it did
  nanoseconds host_delay{300'000'000};         ///< the same of threads
};

/// Follows the segments of a recording that is not gathered yet. Not thread-safe; each call may come from another
/// thread.
class LiveReader {
 public:
  /// `recording` need not be there yet.
  explicit LiveReader(std::filesystem::path recording, LiveLimits limits = {});
  LiveReader(LiveReader&&) noexcept;
  LiveReader& operator=(LiveReader&&) noexcept;
  ~LiveReader();

  /// Reads what was written since the last call. What is known of processes stays when the segments have been gathered.
  [[nodiscard]] LiveView poll();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope::recording
