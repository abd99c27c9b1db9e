// Ranks of which only the host was recorded although they have devices.
#pragma once

#include <string>

#include "rankscope/analyzer/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// Why the time of the ranks cannot be told: "device activity was not recorded: the trace lists 8 GPUs but has no
/// kernel"; empty where that is so of no rank. It is so of a rank for which devices are listed but nothing that ran on
/// them is: what its host did tells neither compute nor idle time (metrics.md 0). A collective on a host thread (Gloo)
/// shows that the rank works on the CPU, whatever devices the machine has.
[[nodiscard]] std::string why_no_device_activity(const Run& run);

/// The same, or that no rank has an accelerator; for sections on the work of accelerators in runs without any.
[[nodiscard]] tl::unexpected<Unavailable> no_device_work(const Run& run);

}  // namespace rankscope::analyzer
