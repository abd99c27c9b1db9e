#include "pipeline/steps.h"

#include <algorithm>
#include <limits>

#include "collectives/comm_ops.h"
#include "math/checked_product.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

/// Time inside operations that several ranks do together, sends and receives left out.
std::int64_t time_in_groups(const Run& run, RankId rank) {
  std::int64_t sum = 0;
  for (const Collective& row : std::ranges::equal_range(run.collectives(), rank, {}, &Collective::rank)) {
    if (row.state != CommState::finished || is_point_to_point(run.text(row.op))) continue;
    if (!add_fits(sum, (row.finished - row.started).count())) return std::numeric_limits<std::int64_t>::max();
  }
  return sum;
}

}  // namespace

PipelineOwner slowest_of(const Run& run, std::span<const PipelineOwner> owners) {
  constexpr double about_equal = 0.9;
  const auto total = [](const PipelineOwner& owner) { return owner.above.total(); };
  const PipelineOwner& most = *std::ranges::max_element(owners, {}, total);
  PipelineOwner slowest = most;
  std::int64_t least = time_in_groups(run, most.rank);
  for (const PipelineOwner& owner : owners) {
    const bool equal = owner.place == most.place &&
                       static_cast<double>(total(owner)) >= about_equal * static_cast<double>(total(most));
    const std::int64_t together = equal ? time_in_groups(run, owner.rank) : least;
    if (together >= least) continue;
    least = together;
    slowest = owner;
  }
  return slowest;
}

}  // namespace rankscope::analyzer
