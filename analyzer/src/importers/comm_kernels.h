// Which kernels communicate, by name.
#pragma once

#include <string_view>

namespace rankscope::analyzer {

/// Rule 3 of metrics.md 0 (class of an activity).
[[nodiscard]] bool is_comm_kernel(std::string_view name);

/// Our name of a collective ("allreduce") from that of c10d, of an nccl: or gloo: range, or of a kernel; empty for
/// what is none ("wait").
[[nodiscard]] std::string_view comm_op_from(std::string_view name);

}  // namespace rankscope::analyzer
