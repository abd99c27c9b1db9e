// What a run says about itself before its first step, in the recording and in the log.
#pragma once

#include "engine/worker.h"

namespace rankscope::trainer {

void describe(const WorkerPlan& run, const WorkerDescription& worker);

}  // namespace rankscope::trainer
