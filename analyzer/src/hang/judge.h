// From the progress of all ranks to the verdict.
#pragma once

#include "importers/shared/comm_progress.h"
#include "rankscope/analyzer/hang/hang.h"

namespace rankscope::analyzer::hang {

/// `job` is complete().
[[nodiscard]] HangReport judge(const JobProgress& job);

}  // namespace rankscope::analyzer::hang
