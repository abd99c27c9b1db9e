// Work on the devices: kernels, copies, graph replays, synchronization. What was launched by which call is found out
// later, from (process, correlation id).
#pragma once

#include <map>
#include <vector>

#include "importers/nsys/database.h"
#include "importers/nsys/timeline.h"

namespace rankscope::analyzer::nsys {

/// A communication kernel, until its collective is known.
struct CommKernel {
  ProcessKey process{};
  LaneId lane{};
  std::pair<std::int64_t, std::int64_t> queue{};  ///< device and stream
  std::uint32_t ticket = 0;
  TimeRange time{};
  StringId name{};
  // From the call that launched it, where that was recorded:
  bool launched = false;
  LaneId thread{};
  std::int64_t global_tid = 0;
  TimeRange launch{};
};

/// Spans of one process by correlation id. An id can have several: a graph launch owns all its nodes.
class Launched {
 public:
  struct Entry {
    std::uint32_t correlation = 0;
    std::uint32_t ticket = 0;
    std::uint32_t comm = none;  ///< row of the list of communication kernels
    static constexpr std::uint32_t none = 0xFFFFFFFF;
  };
  void add(ProcessKey process, std::optional<std::int64_t> correlation, std::uint32_t ticket,
           std::uint32_t comm = Entry::none);
  void sort();
  [[nodiscard]] std::span<const Entry> of(ProcessKey process, std::int64_t correlation) const;
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  std::map<ProcessKey, std::vector<Entry>> entries_;
  std::uint64_t total_ = 0;  // also those without a correlation id
};

struct Activities {
  Launched launched{};
  std::vector<CommKernel> comm{};
};

/// Reads all device tables that the export has.
[[nodiscard]] Result<Activities> read_activities(const Database& database, Timeline& timeline);

// What is sampled or summed over time: device memory that processes hold, and the hardware counters of the devices.

/// cudaMalloc and cudaFree as "[memory]" marks, and the bytes that a process holds as counter "reserved_bytes".
[[nodiscard]] Result<void> read_memory_usage(const Database& database, Timeline& timeline);
/// GPU_METRICS as counter tracks of the process that uses the device.
[[nodiscard]] Result<void> read_gpu_metrics(const Database& database, Timeline& timeline);

}  // namespace rankscope::analyzer::nsys
