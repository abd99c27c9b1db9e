#include "rankscope/core/recording/work_level.h"

#include <algorithm>

namespace rankscope::recording {
namespace {

bool any_rank(std::span<const RankEvidence> processes) {
  return std::ranges::any_of(processes, &RankEvidence::has_rank);
}

WorkLevel highest(std::span<const RankEvidence> processes) {
  const auto most = std::ranges::max_element(processes, {}, &RankEvidence::level);
  return most == processes.end() ? WorkLevel::none : most->level;
}

}  // namespace

std::optional<std::size_t> only_rank(std::span<const RankEvidence> processes) {
  const WorkLevel most = highest(processes);
  if (most == WorkLevel::none || any_rank(processes)) return std::nullopt;
  if (std::ranges::count(processes, most, &RankEvidence::level) != 1) return std::nullopt;
  const auto found = std::ranges::find(processes, most, &RankEvidence::level);
  return static_cast<std::size_t>(found - processes.begin());
}

WorkLevel level_of_unknown_ranks(std::span<const RankEvidence> processes) {
  if (any_rank(processes) || only_rank(processes)) return WorkLevel::work;
  return std::max(highest(processes), WorkLevel::events);
}

}  // namespace rankscope::recording
