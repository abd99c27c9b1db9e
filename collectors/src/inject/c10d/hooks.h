// The functions of libtorch_cpu that ours stand in front of, by subject.
#pragma once

#include <vector>

#include "inject/c10d/relocations.h"

namespace rankscope::inject::c10d {

/// What is used of the layouts of a version of PyTorch.
struct Layout {
  std::size_t reduce_root = 0;  ///< offset of ReduceOptions::rootRank; that of the other options is 0
};

/// Calls of ProcessGroupGloo, and the threads that carry them out.
[[nodiscard]] std::vector<Hook> gloo_hooks(const Layout& layout);
/// Sends and receives of Gloo's TCP transport.
[[nodiscard]] std::vector<Hook> transport_hooks();
/// Where the host waits: Work, and the reducer of DDP, which passes by no Python.
[[nodiscard]] std::vector<Hook> wait_hooks();

}  // namespace rankscope::inject::c10d
