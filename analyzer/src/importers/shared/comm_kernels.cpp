#include "importers/shared/comm_kernels.h"

#include <algorithm>
#include <array>
#include <string>

#include "words/letters.h"

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

bool is_word(char letter) { return letter == '_' || !plain_letters({&letter, 1}).empty(); }

/// The word that names the operation: of "ncclDevKernel_AllReduce_Sum_f32_RING(...)" that is "AllReduce_...".
std::string_view behind_prefix(std::string_view name) {
  if (const CommBackend* const backend = comm_backend_of(name)) return name.substr(backend->prefix.size());
  for (const std::string_view prefix :
       {"c10d::", "ncclDevKernel_", "ncclKernel_", "ncclSymkDevKernel_", "rcclGenericKernel", "mscclKernel_"})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  // "void (anonymous namespace)::multimem_all_reduce_kernel<...>(...)": PyTorch's own, over symmetric memory.
  for (const std::string_view prefix : {"multimem_one_shot_", "multimem_", "one_shot_", "two_shot_"})
    if (const std::size_t at = name.find(prefix); at == 0 || (at != std::string_view::npos && !is_word(name[at - 1])))
      return name.substr(at + prefix.size());
  return name;
}

/// One kernel of PyTorch's does both and says which by a template argument: T, alignment, world size, reduce_scatter.
bool is_two_shot_reduce_scatter(std::string_view name) {
  const std::size_t at = name.find("two_shot_all_reduce_kernel<");
  if (at == std::string_view::npos) return false;
  name = name.substr(at, name.find('>', at) - at);
  for (int skipped = 0; skipped < 3; ++skipped) name.remove_prefix(std::min(name.find(',') + 1, name.size()));
  name = name.substr(std::min(name.find_first_not_of(' '), name.size()));
  // "(bool)1" is how Nsight Systems demangles it.
  return name == "true" || name == "(bool)1" || name == "1" || name.starts_with("true,") ||
         name.starts_with("(bool)1,") || name.starts_with("1,");
}

// The profiling titles of PyTorch's process groups (torch/csrc/distributed/c10d/ProcessGroup*.cpp; intel/torch-xpu-ops
// src/xccl; Ascend/pytorch torch_npu/csrc/distributed). Those of gloo and mpi last as long as the operation.
constexpr std::array backends{
    CommBackend{"nccl:", false}, CommBackend{"gloo:", true},  CommBackend{"mpi:", true},
    CommBackend{"ucc:", false},  CommBackend{"xccl:", false}, CommBackend{"hccl:", false},
};

}  // namespace

const CommBackend* comm_backend_of(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(backends, [name](const CommBackend& backend) { return name.starts_with(backend.prefix); });
  return found == backends.end() ? nullptr : found;
}

bool is_rooted(std::string_view op) { return op == "broadcast" || op == "reduce" || op == "gather" || op == "scatter"; }

std::string_view comm_op_from(std::string_view name) {
  if (is_two_shot_reduce_scatter(name)) return "reduce_scatter";
  const std::string word = plain_letters(behind_prefix(name).substr(0, 64));
  for (const Named& operation : operations)
    if (word.starts_with(operation.plain)) return operation.op;
  return comm_kernel_op(name);
}

}  // namespace rankscope::analyzer
