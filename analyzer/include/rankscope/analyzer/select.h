// A part of a run: some ranks, some steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// What of a run is kept; conditions that are not set leave everything in.
struct Selection {
  std::optional<std::pair<std::int64_t, std::int64_t>> steps;  ///< first and last, both included
  std::vector<RankId> ranks;                                   ///< empty = all
  std::optional<TimeRange> time{};                             ///< in place of steps: what touches it

  [[nodiscard]] bool everything() const { return !steps && !time && ranks.empty(); }
};

/// The run itself when nothing is left out, else a smaller one: the processes of these ranks, and of these what
/// touches the given time, or that from the first to the last of these steps on that rank. Spans are kept whole; groups
/// keep all members, so that an operation whose other members were left out is incomplete and not another operation.
/// Errors (`usage`) name what is not there.
[[nodiscard]] Result<std::shared_ptr<const Run>> select(std::shared_ptr<const Run> run, const Selection& selection);

/// An error (`usage`) about the first of these ranks that the run does not have, and which it has; begins with the
/// option.
[[nodiscard]] Result<void> check_ranks(const Run& run, std::span<const RankId> chosen, std::string_view option);

}  // namespace rankscope::analyzer
