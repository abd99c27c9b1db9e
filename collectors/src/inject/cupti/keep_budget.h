// Fewer records of calls, where they cost more than the user allows.
#pragma once

#include "inject/cupti/budget.h"
#include "inject/cupti/kinds.h"

namespace rankscope::inject::cupti {

/// With what the user allows.
void begin_budget(Budget& budget);

/// After a flush, by whoever may call CUPTI: leaves out most calls, once, and says so. Collectives stay complete: NCCL
/// reports them itself, and the calls that launch its kernels go on being recorded.
void keep_budget(Budget& budget, Kinds& kinds, const collectors::cupti::Functions& call);

}  // namespace rankscope::inject::cupti
