// A recording as the progress of its ranks.
#pragma once

#include <optional>

#include "clocks/clock_trust.h"
#include "importers/shared/comm_progress.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer::hang {

/// Calls of all ranks, and where each of them was last. How processes ended is left to the caller, who may know that
/// they were alive longer than their recordings show: until `alive_unix_ns`, or 0.
[[nodiscard]] JobProgress progress_of_run(const Run& run, std::int64_t alive_unix_ns);

/// True if recording stopped before the processes did: --duration or --window. What is open then may have gone on.
[[nodiscard]] bool recorded_in_part(const Run& run);

/// True if the process was alive seconds after its peers had begun to wait for it, and then was ended: by a signal that
/// asks it to, with the job, or after another rank. Whoever ends first by itself, or by a fault of its own (SIGSEGV),
/// did not hang, however long its peers had waited.
[[nodiscard]] bool hung_before_it_ended(const Run& run, const ClockTrust& clocks, RankId rank);

}  // namespace rankscope::analyzer::hang
