// Dumps that cannot be of the moment at which the others were written: of an earlier attempt of the job, or of the same
// attempt before it went on.
#pragma once

#include "importers/shared/comm_progress.h"

namespace rankscope::analyzer::hang {

/// Takes out dumps that contradict newer ones, and counts them ("dumps_stale"). `job` is complete(). Two dumps
/// contradict each other if one finished an operation that needs all members and the other had not called it yet, or
/// had made its last call longer before than the operation may wait.
void drop_stale_dumps(JobProgress& job);

}  // namespace rankscope::analyzer::hang
