// What the names of communication kernels and ranges tell.
#pragma once

#include <string_view>

#include "rankscope/core/model/comm_kernels.h"

namespace rankscope::analyzer {

/// Our name of a collective ("allreduce") from that of c10d, of an nccl: or gloo: range, or of a kernel; empty for
/// what is none ("wait").
[[nodiscard]] std::string_view comm_op_from(std::string_view name);

}  // namespace rankscope::analyzer
