#include "bandwidth/parts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "collectives/asked_for.h"
#include "collectives/comm_ops.h"
#include "collectives/operation_speed.h"
#include "math/checked_product.h"
#include "rankscope/core/model/run.h"
#include "steps/parts.h"

namespace rankscope::analyzer {
namespace {

void add_bytes(std::int64_t& sum, std::int64_t more) {
  if (!add_fits(sum, more)) sum = std::numeric_limits<std::int64_t>::max();
}

/// Sums of one row.
struct RowSpeeds {
  BandwidthRow row;
  double bytes = 0;
  double bus_bytes = 0;
  double transfer_ns = 0;
  double duration_ns = 0;
};

using RowKey = std::tuple<GroupId, std::string, SizeClass>;

void add(const Run& run, const ClockTrust& clocks, const Operation& operation, RowSpeeds& speeds) {
  BandwidthRow& row = speeds.row;
  ++row.count;
  if (const auto why = no_bandwidth(run, clocks, operation)) {
    if (why == NoBandwidth::sets_up_connections) ++row.setting_up;
    if (why == NoBandwidth::too_short) ++row.too_short;
    row.why_none = words_of(*why, operation);
    return;
  }
  ++row.measured;
  speeds.bytes += static_cast<double>(operation.bytes);
  speeds.bus_bytes += bus_bytes(run, operation);
  speeds.transfer_ns += static_cast<double>(operation.transfer_ns);
  speeds.duration_ns += static_cast<double>(median_duration_ns(run, operation));
}

std::vector<BandwidthRow> rows_of(const Run& run, const ClockTrust& clocks,
                                  std::span<const Operation* const> operations) {
  std::map<RowKey, RowSpeeds> table;
  for (const Operation* const each : operations) {
    const Operation& operation = *each;
    if (comm_op(run.text(operation.op)).factor == BusFactor::none || operation.bytes <= 0) continue;
    const std::string op = group_operation(run, operation);
    RowSpeeds& speeds = table[{operation.group, op, size_class_of(operation.bytes)}];
    const Group& group = run.groups()[operation.group.index()];
    speeds.row.group = run.text(group.name);
    speeds.row.op = op;
    speeds.row.group_size = static_cast<std::int64_t>(group.members.size());
    speeds.row.size = size_class_of(operation.bytes);
    add(run, clocks, operation, speeds);
  }
  std::vector<BandwidthRow> rows;
  for (auto& [key, speeds] : table) {
    if (speeds.row.measured > 0) {  // bytes per ns are GB/s
      speeds.row.algbw_gbps = speeds.bytes / speeds.transfer_ns;
      speeds.row.busbw_gbps = speeds.bus_bytes / speeds.transfer_ns;
      if (speeds.duration_ns > 0) speeds.row.busbw_with_waiting_gbps = speeds.bus_bytes / speeds.duration_ns;
      speeds.row.why_none.clear();
    }
    rows.push_back(std::move(speeds.row));
  }
  std::ranges::stable_sort(rows, {}, [](const BandwidthRow& row) { return std::tie(row.group, row.op, row.size); });
  return rows;
}

/// Sends and receives, and what collectives were given.
class Traffic {
 public:
  Traffic(const Run& run, const ReportOptions& options) : run_(run), options_(options) {}

  void add(const Collective& row) {
    if (row.state != CommState::finished || !row.rank.is_set() || !is_shared(run_, row)) return;
    const std::string_view op = run_.text(row.op);
    if (!is_point_to_point(op)) {
      if (row.bytes > 0 && is_asked_for(options_, row.rank)) add_bytes(margin(row.rank).collective_bytes, row.bytes);
      return;
    }
    if (row.peer < 0 || row.peer > std::numeric_limits<std::uint32_t>::max() - 1) return;
    const RankId peer{static_cast<std::uint32_t>(row.peer)};
    if (is_send(op)) {
      send(row.rank, peer, row.bytes);
    } else if (!std::ranges::binary_search(run_.ranks(), peer)) {
      send(peer, row.rank, row.bytes);  // its sender was not recorded
    }
  }
  void add_speed(const Operation& operation) {
    for (const std::uint32_t member : operation.members) {
      const Collective& row = run_.collectives()[member];
      if (!is_send(run_.text(row.op)) || row.peer < 0) continue;
      const auto cell = cells_.find({row.rank, RankId{static_cast<std::uint32_t>(row.peer)}});
      if (cell == cells_.end()) continue;
      cell->second.bytes += static_cast<double>(operation.bytes);
      cell->second.transfer_ns += static_cast<double>(operation.transfer_ns);
    }
  }

  void fill(BandwidthSection& section) && {
    for (auto& [ranks, sums] : cells_) {
      if (sums.transfer_ns > 0) sums.cell.gbps = sums.bytes / sums.transfer_ns;
      section.traffic.push_back(sums.cell);
    }
    std::ranges::stable_sort(section.traffic, std::greater{}, &TrafficCell::bytes);
    for (const auto& [rank, margin] : margins_) section.margins.push_back(margin);
  }

 private:
  struct Sums {
    TrafficCell cell;
    double bytes = 0;
    double transfer_ns = 0;
  };

  TrafficMargin& margin(RankId rank) {
    TrafficMargin& own = margins_[rank];
    own.rank = rank;
    return own;
  }

  void send(RankId from, RankId to, std::int64_t bytes) {
    if (!is_asked_for(options_, from) && !is_asked_for(options_, to)) return;
    TrafficCell& cell = cells_[{from, to}].cell;
    cell.from = from;
    cell.to = to;
    ++cell.count;
    if (bytes < 0) ++cell.without_bytes;
    add_bytes(cell.bytes, std::max<std::int64_t>(0, bytes));
    if (is_asked_for(options_, from)) add_bytes(margin(from).sent_bytes, std::max<std::int64_t>(0, bytes));
    if (is_asked_for(options_, to)) add_bytes(margin(to).received_bytes, std::max<std::int64_t>(0, bytes));
  }

  const Run& run_;
  const ReportOptions& options_;
  std::map<std::pair<RankId, RankId>, Sums> cells_;
  std::map<RankId, TrafficMargin> margins_;
};

/// Those in which one of the rows took part.
std::vector<const Operation*> operations_with(const CollectivesSection& section, const RowSet& rows) {
  std::vector<const Operation*> operations;
  for (const Operation& operation : section.operations)
    if (std::ranges::any_of(operation.members, [&](std::uint32_t row) { return rows[row]; }))
      operations.push_back(&operation);
  return operations;
}

}  // namespace

SizeClass size_class_of(std::int64_t bytes) {
  constexpr std::int64_t smallest = 1'000;
  constexpr std::int64_t largest = 100'000'000'000;
  if (bytes < smallest) return {0, smallest};
  if (bytes >= largest) return {largest, 0};
  std::int64_t from = smallest;
  while (bytes >= 10 * from) from *= 10;
  return bytes < 3 * from ? SizeClass{from, 3 * from} : SizeClass{3 * from, 10 * from};
}

std::string_view name_of(SlowPath::Kind kind) {
  switch (kind) {
    case SlowPath::Kind::group:
      return "group";
    case SlowPath::Kind::link:
      return "link";
    case SlowPath::Kind::sender:
      return "sender";
    case SlowPath::Kind::receiver:
      return "receiver";
  }
  return "?";
}

Section<BandwidthSection> find_bandwidth(const Run& run, const ClockTrust& clocks, const Section<StepsSection>& steps,
                                         const Section<std::vector<RankRow>>& rows, const Matching& matching,
                                         const ReportOptions& options) {
  if (!matching.section) return unavailable(matching.section.error().why);
  if (options.steps && !steps) return unavailable(steps.error().why);
  ReportOptions of_all_ranks = options;  // peers to compare with, and what others sent to the ranks asked for
  of_all_ranks.ranks.clear();
  const RowSet in_steps = rows_asked_for(run, *matching.section, steps, of_all_ranks);
  const RowSet wanted = rows_asked_for(run, *matching.section, steps, options);
  const std::vector<const Operation*> all_operations = operations_with(*matching.section, in_steps);
  const std::vector<const Operation*> operations = operations_with(*matching.section, wanted);
  BandwidthSection section;
  section.rows = rows_of(run, clocks, operations);
  Traffic traffic{run, options};
  for (std::size_t row = 0; row < in_steps.size(); ++row)
    if (in_steps[row]) traffic.add(run.collectives()[row]);
  for (const Operation* operation : operations)
    if (is_point_to_point(run.text(operation->op)) && !no_bandwidth(run, clocks, *operation))
      traffic.add_speed(*operation);
  std::move(traffic).fill(section);
  if (section.rows.empty() && section.traffic.empty())
    return unavailable("no operation that moves data has a recorded size");
  if (rows) section.slow = slow_paths(run, clocks, steps, *rows, all_operations);
  std::erase_if(section.slow, [&](const SlowPath& path) {
    return std::ranges::none_of(path.ranks, [&](RankId rank) { return is_asked_for(options, rank); });
  });
  return section;
}

}  // namespace rankscope::analyzer
