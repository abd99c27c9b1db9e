#include "collectives/operation_speed.h"

#include "collectives/comm_ops.h"
#include "collectives/operation_times.h"
#include "math/statistics.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t least_for_bandwidth_ns = 5'000;  // metrics.md 6, edge: "too short"

std::vector<RankId> ranks_of(const Run& run, const Operation& operation) {
  std::vector<RankId> ranks;
  for (const std::uint32_t row : operation.members) ranks.push_back(run.collectives()[row].rank);
  return ranks;
}

}  // namespace

/// Our own annotations count from 0 where the communicator is made. PyTorch counts from 1, wherever a trace begins. Of
/// exports of Nsight Systems a group without sequence numbers is known because its communicator was made in them.
bool sets_up_connections(const Run& run, const Operation& operation) {
  if (is_point_to_point(run.text(operation.op))) return false;
  const std::int64_t recorded = run.collectives()[operation.members.front()].sequence;
  if (run.info().source == "kineto") return recorded == 1;
  if (run.info().source == "nsys") return recorded < 0 && operation.sequence == 0;
  return operation.sequence == 0;
}

std::string_view why_no_bandwidth(const Run& run, const ClockTrust& clocks, const Operation& operation) {
  if (comm_op(run.text(operation.op)).factor == BusFactor::none) return "no bandwidth is defined for this operation";
  if (operation.bytes_too_large) return "the recorded number of bytes does not fit 64 bits";
  if (operation.bytes <= 0) return "the number of bytes was not recorded";
  if (!operation.complete) return "not all members of the group were recorded";
  if (!operation.why_no_transfer.empty()) return operation.why_no_transfer;
  if (sets_up_connections(run, operation)) return first_operations;
  const std::vector<RankId> ranks = ranks_of(run, operation);
  const std::int64_t error = is_timed_by_duration(run, clocks, operation) ? 0 : clocks.error_ns(ranks);
  if (operation.transfer_ns < least_for_bandwidth_ns || operation.transfer_ns < 2 * error) return too_short;
  return {};
}

double bus_bytes(const Run& run, const Operation& operation) {
  const std::size_t size = run.groups()[operation.group.index()].members.size();
  return bus_factor(comm_op(run.text(operation.op)), size) * static_cast<double>(operation.bytes);
}

std::int64_t median_duration_ns(const Run& run, const Operation& operation) {
  std::vector<std::int64_t> durations;
  for (const std::uint32_t row : operation.members)
    durations.push_back((run.collectives()[row].finished - run.collectives()[row].started).count());
  return median(durations);
}

}  // namespace rankscope::analyzer
