// What the names around a communication kernel tell: of the kernel, of NCCL's calls, of the ranges that PyTorch makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rankscope::analyzer {

/// Operation and element type that the name of an NCCL kernel tells: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL".
struct KernelOp {
  std::string_view op{};     ///< "allreduce", "sendrecv"; empty: the name does not tell
  std::string_view dtype{};  ///< "bf16"; empty: the name does not tell
};
[[nodiscard]] KernelOp op_of_kernel(std::string_view name);

/// Operation of one of NCCL's functions: "ncclAllReduce" -> "allreduce"; empty for calls that move no data.
[[nodiscard]] std::string_view op_of_nccl_call(std::string_view name);

/// What PyTorch's range says: "nccl:all_to_all" -> alltoall, "nccl:send 0->1" -> send to 1. The op is empty for names
/// that are no operation.
struct FrameworkOp {
  std::string_view op{};
  std::optional<std::int64_t> peer{};
};
[[nodiscard]] FrameworkOp op_of_framework_range(std::string_view name);

}  // namespace rankscope::analyzer
