// int64 nanoseconds on three clocks that cannot be mixed: host, device and run time. Only alignment makes run time.
#pragma once

#include <chrono>
#include <cstdint>

namespace rankscope {

using std::chrono::nanoseconds;

namespace detail {
/// What the three clocks have in common; `Self` makes their time points different types.
template <class Self>
struct ClockOf {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::duration<rep, period>;
  using time_point = std::chrono::time_point<Self, duration>;
  static constexpr bool is_steady = true;
};
}  // namespace detail

struct HostClock : detail::ClockOf<HostClock> {};      ///< CLOCK_MONOTONIC of one host
struct DeviceClock : detail::ClockOf<DeviceClock> {};  ///< clock of one accelerator
struct RunClock : detail::ClockOf<RunClock> {};        ///< common time of all ranks of a run, 0 = start of the run

using HostTime = HostClock::time_point;
using DeviceTime = DeviceClock::time_point;
using RunTime = RunClock::time_point;

/// Run time from nanoseconds since the start of the run: `at(100)`.
constexpr RunTime at(std::int64_t ns) { return RunTime{nanoseconds{ns}}; }
constexpr std::int64_t ns_of(RunTime time) { return time.time_since_epoch().count(); }

/// Half-open [begin, end) in run time (metrics.md C1).
struct TimeRange {
  RunTime begin{};
  RunTime end{};

  [[nodiscard]] constexpr nanoseconds length() const { return end - begin; }
  [[nodiscard]] constexpr bool empty() const { return end <= begin; }
  [[nodiscard]] constexpr bool contains(RunTime time) const { return begin <= time && time < end; }
  bool operator==(const TimeRange&) const = default;
};

/// The common part; empty (begin == end) where they do not meet.
constexpr TimeRange intersect(TimeRange a, TimeRange b) {
  const RunTime begin = a.begin < b.begin ? b.begin : a.begin;
  const RunTime end = a.end < b.end ? a.end : b.end;
  return {begin, end < begin ? begin : end};
}

}  // namespace rankscope
