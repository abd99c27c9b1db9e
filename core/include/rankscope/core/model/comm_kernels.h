// Which kernels communicate, by name.
#pragma once

#include <string_view>

namespace rankscope {

/// Rule 3 of metrics.md 0 (class of an activity).
[[nodiscard]] bool is_comm_kernel(std::string_view name);

/// The operation of a communication kernel ("allreduce", "dispatch"); empty where the table does not say it.
[[nodiscard]] std::string_view comm_kernel_op(std::string_view name);

}  // namespace rankscope
