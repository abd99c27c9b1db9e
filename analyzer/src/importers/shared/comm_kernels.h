// What the names of communication kernels and ranges tell.
#pragma once

#include <string_view>

#include "rankscope/core/model/comm_kernels.h"

namespace rankscope::analyzer {

/// Whose ranges begin with "nccl:", "gloo:" and so on.
struct CommBackend {
  std::string_view prefix;
  bool executes;  ///< the range is the operation itself, on the host; else it only enqueues
};
[[nodiscard]] const CommBackend* comm_backend_of(std::string_view name);

/// Our name of a collective ("allreduce") from that of c10d, of an nccl: or gloo: range, or of a kernel; empty for
/// what is none ("wait").
[[nodiscard]] std::string_view comm_op_from(std::string_view name);

/// True for operations of one root with all others.
[[nodiscard]] bool is_rooted(std::string_view op);

}  // namespace rankscope::analyzer
