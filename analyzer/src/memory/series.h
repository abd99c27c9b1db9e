// The recorded allocations of each rank, one series per accelerator and one for the host's allocator.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rankscope/analyzer/memory/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

inline constexpr std::int64_t largest_memory = std::int64_t{1} << 48;  ///< in bytes; more is a damaged number

/// Where something was allocated, by names of the run (see AllocationPlace).
struct PlaceNames {
  StringId op{};
  StringId outer{};
  StringId range{};
  auto operator<=>(const PlaceNames&) const = default;
  [[nodiscard]] bool is_known() const { return op.is_set() || range.is_set(); }
};

/// An allocation, a release, or a sample of the totals.
struct MemoryEvent {
  static constexpr std::int64_t unknown = -1;

  RunTime time{};
  std::int64_t change = 0;  ///< bytes; negative: released; 0: only a sample
  std::optional<std::int64_t> address{};
  std::int64_t allocated = unknown;  ///< total behind it; in `changes_only` the sum of all changes, which may be < 0
  std::int64_t reserved = unknown;
  PlaceNames place{};
};

struct MemorySeries {
  RankId rank;
  MemoryKind kind = MemoryKind::device;
  std::int32_t device = -1;
  bool has_allocated = false;  ///< totals, or changes that can be summed
  bool has_reserved = false;
  bool changes_only = false;               ///< no totals were recorded
  bool blocks = false;                     ///< each allocation and release was recorded, not only samples of the totals
  std::vector<MemoryEvent> events{};       ///< by time
  std::int64_t ignored = 0;                ///< events with impossible numbers
  std::optional<std::int64_t> own_peak{};  ///< that the allocator itself counted since it began
};

/// From "[memory]" marks; of a process without any from its counters allocated_bytes and reserved_bytes. By rank, kind,
/// device; none without events.
[[nodiscard]] std::vector<MemorySeries> memory_series(const Run& run);

/// Resident memory of a rank's process as `allocated`, sampled by its host; without events where the sampler did not
/// run.
[[nodiscard]] MemorySeries resident_series(const Run& run, RankId rank);

/// A number of bytes that can be true.
[[nodiscard]] bool is_memory(double bytes);

}  // namespace rankscope::analyzer
