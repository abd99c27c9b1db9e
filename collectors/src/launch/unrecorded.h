// A command that runs without being recorded, or not at all.
#pragma once

#include "rankscope/collectors/record.h"

namespace rankscope::collectors {

/// Says why exec failed (`error`: its errno); the status is 127 for a command that is absent, 126 otherwise.
[[nodiscard]] RecordOutcome not_started(const RecordOptions& options, int error);

/// Says why nothing is recorded, runs the command as it is, passes signals on, and returns its status.
[[nodiscard]] Result<RecordOutcome> run_unrecorded(const RecordOptions& options, const Error& why);

}  // namespace rankscope::collectors
