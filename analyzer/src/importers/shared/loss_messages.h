// What profilers say in their logs about events that they lost.
#pragma once

#include <string_view>

namespace rankscope::analyzer {

/// True for a message that events were dropped of which reports are made: CUDA, CUPTI, NVTX or NCCL. Others are not
/// read ("Dropped 3 CPU IP samples"), and some only warn that events may be missing ("Not all CUDA events might have
/// been collected." is in most exports of Nsight Systems that stop before their program does).
[[nodiscard]] bool reports_lost_events(std::string_view message);

}  // namespace rankscope::analyzer
