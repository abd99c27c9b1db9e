// Memory of accelerators and hosts: how much, when, who held it, and whether it grows (metrics.md 14).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// Whose memory an allocation takes.
enum class MemoryKind : std::uint8_t {
  device,  ///< of an accelerator
  host,    ///< what the framework's allocator gives out of the host's memory
};
[[nodiscard]] std::string_view name_of(MemoryKind kind);

/// Where on the host something was allocated. All empty: in nothing that was recorded.
struct AllocationPlace {
  std::string op;     ///< innermost operator
  std::string outer;  ///< outermost operator around it; empty where that is the same one
  std::string range;  ///< innermost annotation, only where there is no operator
  bool operator==(const AllocationPlace&) const = default;
};

/// The largest value of a quantity, or why there is none.
struct MemoryPeak {
  std::optional<std::int64_t> bytes;
  std::string why;                      ///< set when bytes is not
  std::optional<std::int64_t> time_ns;  ///< run time; not set: between two samples
  std::optional<std::int64_t> step;     ///< not set: outside of all steps
  AllocationPlace place{};
};

/// From `time_ns` on.
struct MemoryPoint {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;
  bool operator==(const MemoryPoint&) const = default;
};

/// What lived at a peak, by who had allocated it.
struct MemoryHolder {
  AllocationPlace place;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
};

/// rows + before_recording_bytes + unknown_bytes = the peak, exactly.
struct MemoryHolders {
  std::vector<MemoryHolder> rows;  ///< the largest first
  std::int64_t before_recording_bytes = 0;
  std::int64_t unknown_bytes = 0;
};

/// Theil-Sen slope of the peaks of the counted steps, and whether chance explains it (Mann-Kendall).
struct MemoryGrowth {
  std::optional<double> bytes_per_step;
  std::string why;                             ///< set when bytes_per_step is not
  double p = 1;                                ///< two-sided
  bool proven = false;                         ///< upwards, and p < 0.01
  bool lasts = false;                          ///< the later half alone grows at least half as fast
  std::int64_t steps = 0;                      ///< that were looked at
  std::int64_t median_bytes = 0;               ///< of their peaks
  std::int64_t grown_bytes = 0;                ///< slope times the steps between first and last
  std::optional<std::int64_t> steps_to_limit;  ///< until the device is full, if it goes on
  std::string why_no_limit;                    ///< set when steps_to_limit is not
};

/// One accelerator, or the host's allocator, of one rank.
struct DeviceMemory {
  RankId rank;
  MemoryKind kind = MemoryKind::device;
  std::int32_t device = -1;   ///< ordinal; -1 = host
  std::string name;           ///< of the product; may be empty
  bool changes_only = false;  ///< no totals were recorded: growth since the recording began
  MemoryPeak allocated;
  MemoryPeak reserved;
  Ratio unused;  ///< (reserved - allocated) / reserved, at peak reserved where most of it is allocated
  std::optional<std::int64_t> total_bytes;
  std::string why_no_total;
  std::optional<std::int64_t> left_bytes;  ///< total - peak reserved
  std::string why_none_left;
  Section<MemoryHolders> holders = unavailable("not computed");
  std::vector<MemoryPoint> allocated_points;  ///< step function; thinned points keep lowest and highest
  std::vector<MemoryPoint> reserved_points;
  MemoryGrowth growth;
  std::int64_t events = 0;
  std::int64_t ignored = 0;           ///< events with impossible numbers
  std::int64_t released_unknown = 0;  ///< releases of blocks whose allocation was not recorded
  std::int64_t reused = 0;            ///< allocations where a block still lived: its release was not recorded
};

/// Resident memory of one process, as the host sampler saw it.
struct HostMemory {
  RankId rank;
  MemoryPeak resident;
  std::vector<MemoryPoint> points;
  MemoryGrowth growth;
};

/// What one place allocated and released in the counted windows.
struct AllocationRow {
  MemoryKind kind = MemoryKind::device;
  AllocationPlace place;
  std::int64_t allocations = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t releases = 0;
  std::int64_t freed_bytes = 0;  ///< released there, whoever had allocated it
  std::int64_t largest_bytes = 0;

  [[nodiscard]] std::int64_t net_bytes() const { return allocated_bytes - freed_bytes; }
  AllocationRow& operator+=(const AllocationRow& other);
};

/// Peers that should need equally much.
struct MemoryPeers {
  std::string name;
  std::string caveat;  ///< set when they may not do equal work
  MemoryKind kind = MemoryKind::device;
  std::int64_t ranks = 0;
  RankId most;
  std::int64_t most_bytes = 0;
  std::int64_t median_bytes = 0;
  Ratio imbalance;  ///< most / median
};

/// How much memory ranks need at most, who holds it then, and whether equal ranks need equal amounts.
struct MemorySection {
  std::vector<DeviceMemory> devices;  ///< by rank, kind, device
  std::vector<HostMemory> hosts;      ///< by rank
  std::vector<AllocationRow> places;  ///< of all ranks, most allocated bytes first; devices before hosts
  std::vector<MemoryPeers> peers;
  std::string why_no_peers;     ///< set when they cannot be told
  std::int64_t ranks = 0;       ///< that `places` sums
  std::int64_t rank_steps = 0;  ///< steps of all of them together; 0 where there are none
};

}  // namespace rankscope::analyzer
