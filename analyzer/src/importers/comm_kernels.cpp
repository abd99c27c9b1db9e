#include "importers/comm_kernels.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "element_type.h"

namespace rankscope::analyzer {
namespace {

struct Named {
  std::string_view plain;  ///< small letters, no signs
  std::string_view op;
};

// Longer words first where one begins another.
constexpr std::array operations{
    Named{"allreduce", "allreduce"}, Named{"reducescatter", "reduce_scatter"},
    Named{"allgather", "allgather"}, Named{"alltoall", "alltoall"},
    Named{"broadcast", "broadcast"}, Named{"barrier", "barrier"},
    Named{"sendrecv", "sendrecv"},   Named{"reduce", "reduce"},
    Named{"gather", "gather"},       Named{"scatter", "scatter"},
    Named{"send", "send"},           Named{"recv", "recv"},
};

/// The word that names the operation: of "ncclDevKernel_AllReduce_Sum_f32_RING(...)" that is "AllReduce_...".
std::string_view behind_prefix(std::string_view name) {
  for (const std::string_view prefix : {"nccl:", "gloo:", "c10d::", "ncclDevKernel_", "ncclKernel_",
                                        "ncclSymkDevKernel_", "rcclGenericKernel", "mscclKernel_"})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

bool any_of(std::string_view name, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [name](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace

bool is_comm_kernel(std::string_view name) {
  static constexpr std::array<std::string_view, 5> starts{"nccl", "rccl", "mscclKernel", "userbuffers_", "oneccl_"};
  static constexpr std::array<std::string_view, 7> words{
      "ncclKernel",          "nvshmem",       "deep_ep::", "cross_device_reduce_", "one_shot_all_reduce",
      "two_shot_all_reduce", "shot_allreduce"};
  return std::ranges::any_of(starts, [name](std::string_view start) { return name.starts_with(start); }) ||
         any_of(name, words);
}

std::string_view comm_op_from(std::string_view name) {
  const std::string word = plain_letters(behind_prefix(name).substr(0, 64));
  for (const Named& operation : operations)
    if (word.starts_with(operation.plain)) return operation.op;
  return {};
}

}  // namespace rankscope::analyzer
