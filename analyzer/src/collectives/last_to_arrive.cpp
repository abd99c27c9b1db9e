#include "collectives/last_to_arrive.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "collectives/comm_ops.h"
#include "collectives/operation_times.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

/// The member with the largest value, the lowest rank of several, and by how much it leads.
template <class Value>
std::pair<std::uint32_t, std::int64_t> leader(const Operation& operation, Value value) {
  const std::uint32_t top = *std::ranges::max_element(operation.members, {}, value);
  std::optional<std::int64_t> second;
  for (const std::uint32_t row : operation.members)
    if (row != top) second = std::max(second.value_or(value(row)), value(row));
  return {top, value(top) - second.value_or(value(top))};
}

}  // namespace

LastToArrive::LastToArrive(const Run& run, const ClockTrust& clocks, const Operation& operation)
    : run_(run),
      clocks_(clocks),
      row_(operation.members.front()),
      by_run_time_(!is_timed_by_duration(run, clocks, operation)) {
  if (!by_run_time_) {
    last_by_duration(operation);
  } else if (comm_op(run.text(operation.op)).wait == WaitRule::root_is_last) {
    for (const std::uint32_t row : operation.members)
      if (static_cast<std::int64_t>(run.collectives()[row].rank.value) == run.collectives()[row].peer) row_ = row;
  } else {
    last_by_run_time(operation);
  }
}

void LastToArrive::last_by_run_time(const Operation& operation) {
  const auto started = [&](std::uint32_t row) { return ns_of(run_.collectives()[row].started); };
  const auto [row, lead] = leader(operation, started);
  row_ = row;
  const WaitRule rule = comm_op(run_.text(operation.op)).wait;
  if (rule == WaitRule::all || rule == WaitRule::pair) marginal_ns_ = lead;
}

void LastToArrive::last_by_duration(const Operation& operation) {
  const auto shortness = [&](std::uint32_t row) {
    return ns_of(run_.collectives()[row].started) - ns_of(run_.collectives()[row].finished);
  };
  std::tie(row_, marginal_ns_) = leader(operation, shortness);
}

bool LastToArrive::is_fact(const Collective& waiting, std::int64_t wait_ns) const {
  if (!by_run_time_) return wait_ns > duration_claim_ns;
  return clocks_.is_fact(wait_ns, std::array{waiting.rank, run_.collectives()[row_].rank});
}

}  // namespace rankscope::analyzer
