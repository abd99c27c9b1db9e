// Ranks, operations and groups in words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hang/wait_graph.h"
#include "rankscope/analyzer/hang/hang.h"

namespace rankscope::analyzer::hang {

[[nodiscard]] std::vector<RankId> ids_from(std::span<const std::uint32_t> ranks);
/// "rank 3", "ranks 0–33, 35"
[[nodiscard]] std::string ranks_words(std::span<const std::uint32_t> ranks);
[[nodiscard]] HangOperation operation_of(const JobProgress& job, const CommCall& call, const WaitedOperation* waited);
/// "all_to_all 44791 of group 72 (EXPERT_MODEL_PARALLEL_GROUP)"
[[nodiscard]] std::string operation_words(const HangOperation& operation);
/// "group 72 (EXPERT_MODEL_PARALLEL_GROUP)", "the default group"
[[nodiscard]] std::string group_words(const HangGroup& group);
/// "waits" of one rank, "wait" of several.
[[nodiscard]] std::string_view verb(std::size_t count, std::string_view one, std::string_view several);

}  // namespace rankscope::analyzer::hang
