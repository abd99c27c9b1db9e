// Answers of NCCL's RAS subsystem in JSON (NCCL 2.28.7 and later: `ncclras -f json`).
#pragma once

#include "importers/shared/comm_progress.h"
#include "importers/shared/plain_values.h"

namespace rankscope::analyzer::nccl_ras {

/// True if these values are an answer of RAS.
[[nodiscard]] bool is_ras(const PlainValues& values, ValueRef root);

/// Adds what the answer says: ranks that RAS considers dead or unresponsive and, where no dump says more, how many
/// operations each rank launched. RAS numbers ranks inside a communicator; in one of all ranks these are the global
/// ranks, and only its ranks are added unless `job` is empty. Nothing if it is an answer about no communicator.
void add_ras(const PlainValues& values, ValueRef root, JobProgress& job);

}  // namespace rankscope::analyzer::nccl_ras
