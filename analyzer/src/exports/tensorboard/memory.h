// Allocations for TensorBoard's memory view.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// Where allocations of a process are shown that come without a thread.
struct MemoryPlace {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::int64_t zero_ns = 0;
  bool on_device = false;                                          ///< what counters count lies on the accelerator
  const std::unordered_map<LaneId, std::int64_t>* tids = nullptr;  ///< of the lanes of marks
};

/// The recorded allocations ("[memory]" marks) of a process; where there are none, the steps of its counter
/// allocated_bytes, each as an allocation or a release of its own. `event` takes one JSON object at a time.
void write_tensorboard_memory(const Run& run, std::uint32_t process, const MemoryPlace& place,
                              const std::function<void(std::string_view)>& event);

}  // namespace rankscope::analyzer
