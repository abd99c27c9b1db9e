// Whether ranks that should have the same parameters have them.
#pragma once

#include <cstdint>

#include "engine/worker/worker.h"

namespace rankscope::trainer {

/// Compares a checksum of what this rank has with those of the others of its group; all of them call it. The error
/// names the ranks that differ from the most, or all of them where there is no majority; all get it, and that of the
/// others than the first one has no text, so that it is said once. `done`: steps so far.
[[nodiscard]] Result<void> check_replicas(const Replicated& own, std::int64_t done);

/// Flips one bit of the first parameter: an injected fault.
void corrupt(const Replicated& own);

}  // namespace rankscope::trainer
