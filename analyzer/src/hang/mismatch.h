// Members of a group that did not call the same: another operation, size, type or root.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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

/// The collectives of a group up to `last`, of which those up to `finished` are done.
struct SequenceRange {
  std::int64_t finished = -1;
  std::int64_t last = -1;
};
/// The first of the remembered collectives in this range that these members did not call alike: of those that are done,
/// only another operation counts. Nothing if there is none. The time that it takes grows with the calls that are
/// remembered, whatever their sequences are.
[[nodiscard]] std::optional<std::int64_t> first_called_otherwise(const JobProgress& job, std::uint32_t group,
                                                                 std::span<const std::uint32_t> members,
                                                                 SequenceRange range);

}  // namespace rankscope::analyzer::hang
