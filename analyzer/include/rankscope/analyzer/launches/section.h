// How the host feeds the streams of an accelerator (metrics.md 4.4 to 4.6).
#pragma once

#include <cstdint>
#include <vector>

#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// Quantiles of durations, in ns.
struct Durations {
  std::int64_t median_ns = 0;
  std::int64_t p90_ns = 0;
  std::int64_t p99_ns = 0;
};

/// Launched and not begun yet; shares are of the time of the windows.
struct QueueDepth {
  double mean = 0;  ///< over time
  std::int64_t median = 0;
  std::int64_t p95 = 0;
  std::int64_t most = 0;
  double empty_share = 0;           ///< nothing queued
  double empty_and_idle_share = 0;  ///< nothing queued and nothing running: the device waits for the host
  double full_share = 0;            ///< 1024 or more: the host is held up by the queue (the limit is unverified)
};

/// Activities that began in the counted windows and whose launch was recorded.
struct LaunchRow {
  RankId rank;
  std::int32_t device = -1;  ///< -1 = all streams of the rank
  std::int64_t stream = -1;  ///< number of the stream
  std::uint64_t launches = 0;
  std::uint64_t in_graphs = 0;          ///< of these: started by a call that started several
  std::uint64_t without_launch = 0;     ///< beside these: no launch record
  std::uint64_t began_in_call = 0;      ///< before the call had returned
  std::uint64_t began_before_call = 0;  ///< impossible: clocks of host and device disagree
  Durations call;                       ///< the call itself, of those outside of graphs; nothing if there are none
  Durations delay;                      ///< from the end of the call to the begin of the work, at least 0
  Durations issue;                      ///< from the begin of the call to the begin of the work
  std::uint64_t short_kernels = 0;      ///< kernels shorter than their own call; graphs left out
  std::uint64_t kernels = 0;            ///< of which
  std::int64_t short_ns = 0;            ///< time of the short ones
  std::int64_t kernels_ns = 0;          ///< time of all of them
  QueueDepth queue;

  [[nodiscard]] bool has_calls() const { return launches > in_graphs; }
};

/// Of each rank one row for all its streams, then one per stream; by rank, device and stream.
struct LaunchesSection {
  std::vector<LaunchRow> rows;
};

}  // namespace rankscope::analyzer
