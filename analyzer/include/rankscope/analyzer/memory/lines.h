// Memory over time, value by value, for charts of any part of a run. Peaks, and who held them, are in the report.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// What a line of memory over time counts; the quantities overlap and are not to be added up.
enum class MemoryQuantity : std::uint8_t {
  allocated,       ///< what the framework gives out on an accelerator; where it does not tell, what is taken from CUDA
  reserved,        ///< what the framework's allocator keeps of an accelerator
  pools,           ///< size of CUDA's memory pools
  used,            ///< of an accelerator, by all processes together, as its driver tells
  host_allocated,  ///< what the framework gives out on the host
  resident,        ///< of the process, on the host
};
/// "allocated on the device", ...
[[nodiscard]] std::string_view words_of(MemoryQuantity quantity);

/// From `time` on.
struct MemoryValue {
  RunTime time{};
  std::int64_t bytes = 0;
  StringId place{};  ///< innermost operator, else annotation, in which it became so; none: not known
  bool operator==(const MemoryValue&) const = default;
};

/// One quantity of one rank.
struct MemoryLine {
  RankId rank;
  MemoryQuantity quantity = MemoryQuantity::allocated;
  std::int32_t device = -1;         ///< number of the accelerator; -1: the host
  bool sampled = false;             ///< what was between two values is not known
  bool changes_only = false;        ///< growth since the recording began: no totals were recorded
  std::vector<MemoryValue> values;  ///< by time; at least one
};

/// By quantity, device and rank.
[[nodiscard]] std::vector<MemoryLine> memory_lines(const Run& run);

}  // namespace rankscope::analyzer
