#include "importers/shared/comm_names.h"

#include <algorithm>

#include "importers/shared/comm_kernels.h"
#include "rankscope/core/numbers.h"
#include "words/element_type.h"

namespace rankscope::analyzer {

KernelOp op_of_kernel(std::string_view name) {
  KernelOp found{.op = comm_op_from(name), .dtype = {}};
  name = name.substr(0, name.find('('));
  while (!name.empty() && found.dtype.empty()) {
    const std::string_view word = name.substr(0, name.find('_'));
    name.remove_prefix(std::min(word.size() + 1, name.size()));
    found.dtype = word.starts_with("f8") ? std::string_view{"f8"} : element_type_from(word).name;
  }
  return found;
}

std::string_view op_of_nccl_call(std::string_view name) {
  if (!name.starts_with("nccl")) return {};
  name.remove_prefix(4);
  return name == "Bcast" ? std::string_view{"broadcast"} : comm_op_from(name);
}

FrameworkOp op_of_framework_range(std::string_view name) {
  if (!name.starts_with("nccl:")) return {};
  FrameworkOp found{.op = comm_op_from(name), .peer = {}};
  const std::size_t arrow = name.find_first_of("<>");  // "send 0->1", "recv 1<-0"
  if (arrow == std::string_view::npos) return found;
  const std::string_view peer = name.substr(std::min(name.find_first_of("0123456789", arrow), name.size()));
  found.peer = leading_number<std::int64_t>(peer);
  return found;
}

}  // namespace rankscope::analyzer
