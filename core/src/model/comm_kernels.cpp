#include "rankscope/core/model/comm_kernels.h"

#include <algorithm>
#include <array>

namespace rankscope {

bool is_comm_kernel(std::string_view name) {
  static constexpr std::array<std::string_view, 5> starts{"nccl", "rccl", "mscclKernel", "userbuffers_", "oneccl_"};
  static constexpr std::array<std::string_view, 11> words{"ncclKernel",
                                                          "nvshmem",
                                                          "deep_ep::",
                                                          "cross_device_reduce_",
                                                          "one_shot_all_reduce",
                                                          "two_shot_all_reduce",
                                                          "shot_allreduce",
                                                          "multimem_all_reduce",
                                                          "multimem_allreduce",
                                                          "multimem_all_gather",
                                                          "multimem_one_shot_reduce"};
  return std::ranges::any_of(starts, [name](std::string_view start) { return name.starts_with(start); }) ||
         std::ranges::any_of(words, [name](std::string_view word) { return name.find(word) != name.npos; });
}

}  // namespace rankscope
