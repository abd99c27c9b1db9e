#include "rankscope/core/model/comm_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace rankscope {
namespace {

/// Begin of a word in a kernel's own name.
struct CommKernel {
  std::string_view text;
  std::string_view op{};  ///< empty: the rest of the name tells, or nothing does
};

// Each with the source of its name.
constexpr std::array all{
    // NVIDIA/nccl src/device/generate.py: ncclKernel_ (until 2.18), ncclDevKernel_; src/device/symmetric/generate.py:
    // ncclSymkDevKernel_. ROCm/rccl src/device/generate.py: ncclDevKernel_Generic; rcclGenericKernel before.
    CommKernel{"nccl"},
    CommKernel{"rcclGenericKernel"},
    // ROCm/rccl src/include/msccl/msccl_kernel.h; microsoft/mscclpp include/mscclpp
    CommKernel{"mscclKernel"},
    CommKernel{"mscclpp"},
    // uxlfoundation/oneCCL; Ascend HCCL, as torch_npu's profiler writes it
    CommKernel{"oneccl_"},
    CommKernel{"hcom_"},
    CommKernel{"Hccl"},
    // NVIDIA/nvshmem; ROCm/rocSHMEM
    CommKernel{"nvshmem"},
    CommKernel{"rocshmem"},
    // deepseek-ai/DeepEP csrc/kernels/{internode,internode_ll,intranode}.cu, since 2026 csrc/kernels/legacy: deep_ep::,
    // deep_ep::legacy::, and dpsk::ep:: in deepseek-ai/profile-data. layout::get_dispatch_layout computes: not here.
    CommKernel{"internode::dispatch", "dispatch"},
    CommKernel{"internode::combine", "combine"},
    CommKernel{"internode::notify_dispatch", "notify"},
    CommKernel{"internode::cached_notify", "notify"},
    CommKernel{"internode_ll::dispatch", "dispatch"},
    CommKernel{"internode_ll::combine", "combine"},
    CommKernel{"internode_ll::clean_low_latency_buffer", "barrier"},
    CommKernel{"intranode::dispatch", "dispatch"},
    CommKernel{"intranode::combine", "combine"},
    CommKernel{"intranode::notify_dispatch", "notify"},
    CommKernel{"intranode::cached_notify_", "notify"},
    CommKernel{"intranode::barrier", "barrier"},
    // deepseek-ai/DeepEP deep_ep/include/deep_ep/impls; epilogues copy inside one device: not here.
    CommKernel{"deep_ep::elastic::dispatch_impl", "dispatch"},
    CommKernel{"deep_ep::elastic::hybrid_dispatch_impl", "dispatch"},
    CommKernel{"deep_ep::elastic::combine_impl", "combine"},
    CommKernel{"deep_ep::elastic::hybrid_combine_impl", "combine"},
    CommKernel{"deep_ep::elastic::barrier_impl", "barrier"},
    CommKernel{"deep_ep::elastic::pp_send_impl", "send"},
    CommKernel{"deep_ep::elastic::pp_recv_impl", "recv"},
    CommKernel{"deep_ep::elastic::engram_fetch"},
    // deepseek-ai/DeepEP, branch hybrid-ep, csrc/hybrid_ep/backend
    CommKernel{"hybrid_ep::dispatch_kernel", "dispatch"},
    CommKernel{"hybrid_ep::combine_kernel", "combine"},
    CommKernel{"hybrid_ep::device_sync_kernel", "barrier"},
    // ROCm/mori src/ops/dispatch_combine
    CommKernel{"mori::moe::EpDispatch", "dispatch"},
    CommKernel{"mori::moe::EpCombine", "combine"},
    // vllm-project/vllm csrc/custom_all_reduce.cuh, csrc/quickreduce/quick_reduce.h; the same in SGLang and ROCm/aiter
    CommKernel{"cross_device_reduce_", "allreduce"},
    CommKernel{"quickreduce::allreduce_prototype", "allreduce"},
    // sgl-project/sglang, its jit_kernel for distributed operations
    CommKernel{"all_reduce_one_shot_", "allreduce"},
    CommKernel{"all_reduce_two_shot_", "allreduce"},
    // NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels/customAllReduceKernels.cu, customLowPrecisionAllReduceKernels.cu,
    // communicationKernels; FlashInfer has the latter, too. PyTorch's intra_node_comm.cu has the first two names.
    CommKernel{"oneShotAllReduceKernel", "allreduce"},
    CommKernel{"twoShotAllReduceKernel", "allreduce"},
    CommKernel{"lowPrecisionTwoShotAllReduceKernel", "allreduce"},
    CommKernel{"lowPrecisionTwoShotHierarchicalAllReduceKernel", "allreduce"},
    CommKernel{"hybridCubeMeshAllReduceKernel", "allreduce"},
    CommKernel{"allreduce_fusion_kernel_", "allreduce"},
    CommKernel{"moereduce_allreduce_fusion_kernel_", "allreduce"},
    CommKernel{"moefinalize_allreduce_fusion_kernel_", "allreduce"},
    // NVIDIA/TransformerEngine transformer_engine/common/comm_gemm_overlap/userbuffers/userbuffers.cu
    CommKernel{"userbuffers_"},
    CommKernel{"kuserbuffers_"},
    // PyTorch torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemory*.cu: barrier_kernel, put_signal_kernel, ...
    CommKernel{"c10d::symmetric_memory::"},
    // ... and CUDASymmetricMemoryOps.cu
    CommKernel{"one_shot_all_reduce"},
    CommKernel{"two_shot_all_reduce"},
    CommKernel{"one_shot_allreduce"},
    CommKernel{"two_shot_allreduce"},
    CommKernel{"multimem_all_reduce"},
    CommKernel{"multimem_allreduce"},
    CommKernel{"multimem_all_gather"},
    CommKernel{"multimem_reduce_scatter"},
    CommKernel{"multimem_one_shot_"},
};

/// "void (anonymous namespace)::f<T>(int)" without its template arguments and parameters, which may name any type.
std::string_view own_name(std::string_view name) {
  std::size_t from = 0;
  while (true) {
    const std::size_t end = name.find_first_of("<(", from);
    if (end == std::string_view::npos) return name;
    const std::string_view rest = name.substr(end);
    // As GCC and as Nsight Systems write a namespace without name.
    if (rest.starts_with("(anonymous namespace)"))
      from = end + std::string_view{"(anonymous namespace)"}.size();
    else if (rest.starts_with("<unnamed>"))
      from = end + std::string_view{"<unnamed>"}.size();
    else
      return name.substr(0, end);
  }
}

/// A digit may stand in front: "_ZN4vllm26cross_device_reduce_2stage..." is a name that was not demangled.
bool continues_word(char letter) {
  return letter == '_' || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

bool has_word(std::string_view name, std::string_view begin) {
  for (std::size_t at = name.find(begin); at != std::string_view::npos; at = name.find(begin, at + 1))
    if (at == 0 || !continues_word(name[at - 1])) return true;
  return false;
}

const CommKernel* find(std::string_view name) {
  const std::string_view own = own_name(name);
  const auto* const found =
      std::ranges::find_if(all, [own](const CommKernel& kernel) { return has_word(own, kernel.text); });
  return found == all.end() ? nullptr : found;
}

}  // namespace

bool is_comm_kernel(std::string_view name) { return find(name) != nullptr; }

std::string_view comm_kernel_op(std::string_view name) {
  const CommKernel* const kernel = find(name);
  return kernel == nullptr ? std::string_view{} : kernel->op;
}

}  // namespace rankscope
