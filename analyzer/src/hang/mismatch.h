// Members of a group that did not call the same: another operation, size, type or root.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hang/wait_graph.h"
#include "rankscope/analyzer/hang/hang.h"

namespace rankscope::analyzer::hang {

struct Mismatch {
  HangKind kind = HangKind::order;
  CommCall call{};                   ///< what most members called
  std::vector<std::uint32_t> odd{};  ///< who called something else, ascending; all, if it cannot be told who is wrong
  bool told_apart = true;            ///< false: there is no majority
  std::string what{};                ///< "rank 1 called broadcast, ranks 0, 2 all_reduce"
};

/// The first mismatch of the group of an operation, up to this operation.
[[nodiscard]] std::optional<Mismatch> find_mismatch(const JobProgress& job, const WaitedOperation& operation);

}  // namespace rankscope::analyzer::hang
