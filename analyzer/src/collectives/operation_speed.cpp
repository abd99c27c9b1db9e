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

std::optional<NoBandwidth> no_bandwidth(const Run& run, const ClockTrust& clocks, const Operation& operation) {
  if (comm_op(run.text(operation.op)).factor == BusFactor::none) return NoBandwidth::undefined;
  if (operation.bytes_too_large) return NoBandwidth::bytes_too_large;
  if (operation.bytes <= 0) return NoBandwidth::no_bytes;
  if (!operation.complete) return NoBandwidth::members_missing;
  if (!operation.why_no_transfer.empty()) return NoBandwidth::no_transfer;
  if (sets_up_connections(run, operation)) return NoBandwidth::sets_up_connections;
  const std::vector<RankId> ranks = ranks_of(run, operation);
  const std::int64_t error = is_timed_by_duration(run, clocks, operation) ? 0 : clocks.error_ns(ranks);
  if (operation.transfer_ns < least_for_bandwidth_ns || operation.transfer_ns < 2 * error)
    return NoBandwidth::too_short;
  return std::nullopt;
}

std::string_view words_of(NoBandwidth why, const Operation& operation) {
  switch (why) {
    case NoBandwidth::undefined:
      return "no bandwidth is defined for this operation";
    case NoBandwidth::bytes_too_large:
      return "the recorded number of bytes does not fit in 64 bits";
    case NoBandwidth::no_bytes:
      return "the number of bytes was not recorded";
    case NoBandwidth::members_missing:
      return "not all members of the group were recorded";
    case NoBandwidth::no_transfer:
      return operation.why_no_transfer;
    case NoBandwidth::sets_up_connections:
      return "the first operation of a group sets up connections";
    case NoBandwidth::too_short:
      return "the transfer was too short to measure";
  }
  return "?";
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
