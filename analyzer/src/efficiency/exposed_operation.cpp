#include "efficiency/exposed_operation.h"

#include <algorithm>
#include <array>
#include <map>

#include "importers/shared/comm_kernels.h"

namespace rankscope::analyzer {
namespace {

struct KnownOperation {
  std::string_view op;  ///< as comm_op_from() says
  std::string_view name;
  CommUse use;
};
constexpr std::array known_operations{
    KnownOperation{"reduce_scatter", "reduce-scatter", CommUse::reduction},
    KnownOperation{"allreduce", "all-reduce", CommUse::reduction},
    KnownOperation{"allgather", "all-gather", CommUse::gathering},
    KnownOperation{"alltoall", "all-to-all", CommUse::exchange},
    KnownOperation{"send", "send and receive", CommUse::exchange},
    KnownOperation{"recv", "send and receive", CommUse::exchange},
    KnownOperation{"sendrecv", "send and receive", CommUse::exchange},
    KnownOperation{"dispatch", "dispatch and combine", CommUse::exchange},
    KnownOperation{"combine", "dispatch and combine", CommUse::exchange},
    KnownOperation{"broadcast", "broadcast", CommUse::other},
};

}  // namespace

ExposedOperation operation_named(std::string_view name) {
  const auto* const found = std::ranges::find(known_operations, comm_op_from(name), &KnownOperation::op);
  return found == known_operations.end() ? ExposedOperation{} : ExposedOperation{found->name, found->use, 0};
}

ExposedOperation most_exposed(const OverlapSection& section) {
  std::map<std::string_view, ExposedOperation> sums;
  for (const OverlapRow& row : section.rows) {
    const ExposedOperation operation = operation_named(row.op);
    sums.try_emplace(operation.name, operation).first->second.exposed_ns += row.exposed_ns();
  }
  if (sums.empty()) return {};
  return std::ranges::max_element(sums, {}, [](const auto& entry) { return entry.second.exposed_ns; })->second;
}

std::string_view advice_to_hide(CommUse use) {
  switch (use) {
    case CommUse::reduction:
      return "Overlap the communication with compute (smaller or earlier buckets, asynchronous handles), or move fewer "
             "bytes (lower precision, gradient accumulation).";
    case CommUse::gathering:
      return "Overlap the all-gather with compute: start it while the previous layer is computed (in FSDP: "
             "forward_prefetch, backward_prefetch); or move fewer bytes (lower precision, fewer all-gathers per step).";
    case CommUse::exchange:
      return "Overlap the communication with other work (split the data into chunks, and transfer one chunk while the "
             "device works on another), or move fewer bytes (lower precision).";
    case CommUse::other:
      return "Overlap the communication with compute (start it earlier, with asynchronous handles), or move fewer "
             "bytes (lower precision).";
  }
  return {};
}

}  // namespace rankscope::analyzer
