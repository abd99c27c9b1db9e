// Answers of NCCL's RAS subsystem in JSON (NCCL 2.28.7 and later: `ncclras -f json`).
#pragma once

#include "importers/shared/comm_progress.h"
#include "importers/shared/plain_values.h"

namespace rankscope::analyzer::nccl_ras {

/// True if these values are an answer of RAS.
[[nodiscard]] bool is_ras(const PlainValues& values, ValueRef root);

/// Adds what the answer says where no dump says more: ranks that RAS considers dead or that did not answer, and how
/// many operations each rank launched. RAS numbers ranks inside a communicator; only in one of all ranks these are the
/// ranks of the job. An answer without such a communicator is counted ("ras_not_used"). Nothing of an answer about
/// none.
void add_ras(const PlainValues& values, ValueRef root, JobProgress& job);

}  // namespace rankscope::analyzer::nccl_ras
