// Copies by kind, and what made the host wait for the device (metrics.md 4.7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/analyzer/section.h"

namespace rankscope::analyzer {

/// Copies or memsets of one kind between the same kinds of memory that began in the counted windows.
struct CopyRow {
  std::string kind;    ///< "HtoD", "DtoH", "DtoD", "PtoP", ..., "memset", "other"
  std::string memory;  ///< "Pageable -> Device"; empty: not recorded
  std::int64_t count = 0;
  std::int64_t sum_ns = 0;
  std::int64_t exposed_ns = 0;  ///< in the counted windows, while neither compute nor communication ran
  std::int64_t bytes = 0;       ///< of those that tell
  std::int64_t too_large = 0;   ///< of `unmeasured`: more bytes than a memory or the sum can hold
  std::int64_t unmeasured = 0;  ///< without length or without usable bytes; left out of the bandwidth
  std::optional<double> gbps;   ///< bytes / ns of the measured ones
};

/// Calls of the host, by where they were made.
struct HostCallRow {
  std::string call;
  std::string op;     ///< innermost operator around it; empty: none
  std::string range;  ///< innermost annotation around it; empty: none
  std::int64_t count = 0;
  std::int64_t ns = 0;
};

/// Copies between host and devices, and the calls in which the host waits for devices or allocates.
struct CopiesSection {
  std::vector<CopyRow> copies;                ///< the longest first
  std::vector<HostCallRow> blocking_copies;   ///< calls that return only when the copy is done, or copy pageable memory
  std::vector<HostCallRow> synchronizations;  ///< the host waits for the device
  std::vector<HostCallRow> allocations;  ///< cudaMalloc, cudaFree, ... in the counted windows after the first step, of
                                         ///< ranks without steps after their first device work
  std::int64_t ranks = 0;
  std::int64_t rank_steps = 0;  ///< steps of all ranks together; 0 where there are none
};

}  // namespace rankscope::analyzer
