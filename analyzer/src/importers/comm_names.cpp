#include "importers/comm_names.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace rankscope::analyzer {
namespace {

struct Pair {
  std::string_view name;
  std::string_view meaning;
};

template <std::size_t n>
std::string_view meaning_of(const std::array<Pair, n>& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Pair::name);
  return found == table.end() ? std::string_view{} : found->meaning;
}

// NCCL's functions, also inside the names of its kernels.
constexpr std::array functions{
    Pair{"AllReduce", "allreduce"}, Pair{"AllGather", "allgather"}, Pair{"ReduceScatter", "reduce_scatter"},
    Pair{"Broadcast", "broadcast"}, Pair{"Bcast", "broadcast"},     Pair{"Reduce", "reduce"},
    Pair{"AlltoAll", "alltoall"},   Pair{"AllToAll", "alltoall"},   Pair{"Gather", "gather"},
    Pair{"Scatter", "scatter"},     Pair{"Send", "send"},           Pair{"Recv", "recv"},
    Pair{"SendRecv", "sendrecv"},
};

// Names of c10d, with its older spellings.
constexpr std::array framework_ops{
    Pair{"all_reduce", "allreduce"},
    Pair{"allreduce", "allreduce"},
    Pair{"allreduce_coalesced", "allreduce"},
    Pair{"all_reduce_coalesced", "allreduce"},
    Pair{"all_gather", "allgather"},
    Pair{"allgather", "allgather"},
    Pair{"_all_gather_base", "allgather"},
    Pair{"_allgather_base", "allgather"},
    Pair{"all_gather_into_tensor_coalesced", "allgather"},
    Pair{"allgather_into_tensor_coalesced", "allgather"},
    Pair{"reduce_scatter", "reduce_scatter"},
    Pair{"_reduce_scatter_base", "reduce_scatter"},
    Pair{"reduce_scatter_tensor_coalesced", "reduce_scatter"},
    Pair{"broadcast", "broadcast"},
    Pair{"_broadcast_oop", "broadcast"},
    Pair{"reduce", "reduce"},
    Pair{"_reduce_oop", "reduce"},
    Pair{"all_to_all", "alltoall"},
    Pair{"all_to_allv", "alltoall"},
    Pair{"alltoall", "alltoall"},
    Pair{"alltoall_base", "alltoall"},
    Pair{"gather", "gather"},
    Pair{"scatter", "scatter"},
    Pair{"barrier", "barrier"},
    Pair{"all_reduce_barrier", "barrier"},
    Pair{"send", "send"},
    Pair{"recv", "recv"},
};

// NCCL names element types as we do.
constexpr std::array<std::string_view, 12> types{"f32", "f16", "bf16", "f64", "i8",     "u8",
                                                 "i32", "u32", "i64",  "u64", "f8e4m3", "f8e5m2"};

constexpr std::array<std::string_view, 5> kernel_prefixes{"ncclDevKernel_", "ncclKernel_", "ncclSymkDevKernel_",
                                                          "ncclSymDevKernel_", "ncclDevFunc_"};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// "one_shot_all_reduce", "two_shot_allreduce"
bool is_shot_kernel(std::string_view name) {
  return (contains(name, "one_shot_all") || contains(name, "two_shot_all")) && contains(name, "reduce");
}

}  // namespace

bool is_comm_kernel(std::string_view name) {
  constexpr std::array<std::string_view, 5> starts{"nccl", "rccl", "mscclKernel", "userbuffers_", "oneccl_"};
  constexpr std::array<std::string_view, 4> parts{"ncclKernel", "nvshmem", "deep_ep::", "cross_device_reduce_"};
  return std::ranges::any_of(starts, [name](std::string_view start) { return name.starts_with(start); }) ||
         std::ranges::any_of(parts, [name](std::string_view part) { return contains(name, part); }) ||
         is_shot_kernel(name);
}

KernelOp op_of_kernel(std::string_view name) {
  for (const std::string_view prefix : kernel_prefixes) {
    const std::size_t at = name.find(prefix);
    if (at == std::string_view::npos) continue;
    std::string_view rest = name.substr(at + prefix.size());
    rest = rest.substr(0, rest.find('('));
    KernelOp found;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find('_'));
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
      if (found.op.empty()) found.op = meaning_of(functions, word);
      if (const auto* type = std::ranges::find(types, word); found.dtype.empty() && type != types.end())
        found.dtype = *type;
    }
    return found;
  }
  return {};
}

std::string_view op_of_nccl_call(std::string_view name) {
  return name.starts_with("nccl") ? meaning_of(functions, name.substr(4)) : std::string_view{};
}

FrameworkOp op_of_framework_range(std::string_view name) {
  if (!name.starts_with("nccl:")) return {};
  name.remove_prefix(5);
  FrameworkOp found;
  found.op = meaning_of(framework_ops, name.substr(0, name.find(' ')));
  const std::size_t arrow = name.find_first_of("<>");  // "send 0->1", "recv 1<-0"
  if (arrow == std::string_view::npos) return found;
  const std::string_view peer = name.substr(std::min(name.find_first_of("0123456789", arrow), name.size()));
  std::int64_t value = 0;
  if (std::from_chars(peer.data(), peer.data() + peer.size(), value).ec == std::errc{}) found.peer = value;
  return found;
}

}  // namespace rankscope::analyzer
