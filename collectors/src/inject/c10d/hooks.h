// The functions of libtorch_cpu that ours stand in front of, by subject.
#pragma once

#include <vector>

#include "inject/c10d/relocations.h"
#include "inject/c10d/verified.h"

namespace rankscope::inject::c10d {

/// Calls of ProcessGroupGloo, and the threads that carry them out.
[[nodiscard]] std::vector<Hook> gloo_hooks(const Layout& layout);
/// Sends and receives of Gloo's TCP transport.
[[nodiscard]] std::vector<Hook> transport_hooks();
/// Where the host waits: Work, and the reducer of DDP, which passes by no Python.
[[nodiscard]] std::vector<Hook> wait_hooks();

}  // namespace rankscope::inject::c10d
