// Sequences of small kernels that one kernel could do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankscope/analyzer/section.h"

namespace rankscope::analyzer {

/// Pointwise kernels that follow each other on one stream, with nothing else of that stream between them.
struct FusableSequence {
  std::string kernels;         ///< "add → mul ×2 → (copy → add) ×8"
  std::int64_t length = 0;     ///< kernels in it
  std::int64_t count = 0;      ///< how often it ran
  std::int64_t kernel_ns = 0;  ///< of all its runs
  std::int64_t gap_ns = 0;     ///< between its kernels, while the device was idle: what fusing gives back at least
};

/// Where a compiler could put kernels together; only hints, since dependencies are not known.
struct FusableSection {
  std::vector<FusableSequence> sequences;  ///< the longest time first
  std::int64_t kernel_ns = 0;              ///< of all sequences
  std::int64_t gap_ns = 0;
  std::int64_t window_ns = 0;   ///< of all ranks
  std::int64_t rank_steps = 0;  ///< steps of all ranks together; 0 where there are none
  std::int64_t ranks = 0;
};

}  // namespace rankscope::analyzer
