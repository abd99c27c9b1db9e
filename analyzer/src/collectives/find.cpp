#include "collectives/find.h"

#include <algorithm>
#include <tuple>

#include "collectives/comm_ops.h"
#include "collectives/matching.h"
#include "collectives/operation_speed.h"
#include "collectives/operation_times.h"
#include "math/checked_product.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

bool all_finished(const Run& run, const Operation& operation) {
  return std::ranges::all_of(operation.members,
                             [&](std::uint32_t row) { return run.collectives()[row].state == CommState::finished; });
}

/// By group: how many of its members the run holds. Counted once, because groups of thousands have thousands of
/// operations.
std::vector<std::size_t> count_present(const Run& run) {
  std::vector<std::size_t> present;
  for (const Group& group : run.groups())
    present.push_back(static_cast<std::size_t>(std::ranges::count_if(
        group.members, [&](RankId rank) { return std::ranges::binary_search(run.ranks(), rank); })));
  return present;
}

/// Why the operation has neither wait nor transfer; empty if every member of the group that the run holds has finished
/// its part. Ranks that are absent from the whole run make waits lower bounds (C7); one that only lacks this operation
/// stands at an edge of the recording or was lost.
std::string_view why_not_timed(const Run& run, const Operation& operation, const std::vector<std::size_t>& present) {
  if (!all_finished(run, operation)) return "at least one rank of the group did not finish the operation";
  if (!operation.complete) {
    if (comm_op(run.text(operation.op)).wait == WaitRule::pair) return "no partner was found";
    if (present[operation.group.index()] != operation.members.size())
      return "the operation is missing on at least one rank of the group";
  }
  return operation.members.size() < 2 ? "only one rank of the group was recorded" : std::string_view{};
}

/// True if a rank that the run does not hold may have been the one for which the others waited.
bool may_have_waited_for_absent(const Run& run, const Operation& operation) {
  if (operation.complete) return false;
  const WaitRule rule = comm_op(run.text(operation.op)).wait;
  if (rule != WaitRule::root_is_last) return rule == WaitRule::all || rule == WaitRule::root_waits;
  return std::ranges::none_of(operation.members, [&](std::uint32_t row) {
    const Collective& member = run.collectives()[row];
    return static_cast<std::int64_t>(member.rank.value) == member.peer;
  });
}

void note_starts(const Run& run, Operation& operation) {
  operation.first_start = run.collectives()[operation.members.front()].started;
  operation.last_start = operation.first_start;
  for (const std::uint32_t row : operation.members) {
    operation.first_start = std::min(operation.first_start, run.collectives()[row].started);
    operation.last_start = std::max(operation.last_start, run.collectives()[row].started);
  }
}

/// Adds a reason to a list that has each once.
void add_reason(std::string& list, std::string_view why) {
  if (list.find(why) == std::string::npos) list.append(list.empty() ? "" : "; ").append(why);
}

/// Sums of one (group, op), from its operations in any order.
class GroupSums {
 public:
  GroupSums(const Run& run, const Operation& operation) {
    row_.group = run.text(run.groups()[operation.group.index()].name);
    row_.op = group_operation(run, operation);
  }
  void add(const Run& run, const ClockTrust& clocks, const Operation& operation) {
    ++row_.count;
    if (is_timed_by_duration(run, clocks, operation)) ++by_duration_;
    add_bytes(operation);
    row_.wait_ns += operation.wait_ns;
    row_.transfer_ns += operation.transfer_ns;
    if (!operation.why_no_wait.empty()) {
      ++row_.without_wait;
      add_reason(row_.why_no_wait, operation.why_no_wait);
    }
    if (!operation.why_no_transfer.empty()) {
      ++row_.without_transfer;
      add_reason(row_.why_no_transfer, operation.why_no_transfer);
    }
    if (const auto why = no_bandwidth(run, clocks, operation)) {
      add_reason(row_.why_no_busbw, words_of(*why, operation));
      return;
    }
    bus_bytes_ += bus_bytes(run, operation);
    bus_ns_ += operation.transfer_ns;
  }
  [[nodiscard]] GroupRow row() && {
    row_.method = by_duration_ == 0 ? "run time" : by_duration_ == row_.count ? "duration" : "run time and duration";
    if (bus_ns_ > 0) {
      row_.busbw_gbps = bus_bytes_ / static_cast<double>(bus_ns_);  // metrics.md 6.7; bytes per ns are GB/s
      row_.why_no_busbw.clear();
    }
    return std::move(row_);
  }

 private:
  /// Damaged numbers are counted rather than added.
  void add_bytes(const Operation& operation) {
    std::int64_t sum = std::max<std::int64_t>(row_.bytes, 0);
    if (operation.bytes_too_large || (operation.bytes >= 0 && !add_fits(sum, operation.bytes)))
      ++row_.bytes_too_large;
    else if (operation.bytes >= 0)
      row_.bytes = sum;
  }

  GroupRow row_;
  double bus_bytes_ = 0;
  std::int64_t bus_ns_ = 0;
  std::int64_t by_duration_ = 0;  // operations
};

std::vector<GroupRow> sum_groups(const Run& run, const ClockTrust& clocks, std::span<const Operation> operations) {
  std::vector<std::pair<std::tuple<GroupId, std::string>, const Operation*>> order;
  for (const Operation& operation : operations)
    order.emplace_back(std::tuple(operation.group, group_operation(run, operation)), &operation);
  std::ranges::stable_sort(
      order, {}, [](const auto& entry) -> const auto& { return entry.first; });
  std::vector<GroupRow> rows;
  for (std::size_t begin = 0; begin < order.size();) {
    GroupSums sums(run, *order[begin].second);
    std::size_t end = begin;
    for (; end < order.size() && order[end].first == order[begin].first; ++end)
      sums.add(run, clocks, *order[end].second);
    rows.push_back(std::move(sums).row());
    begin = end;
  }
  std::ranges::stable_sort(rows, {}, [](const GroupRow& row) { return std::tie(row.group, row.op); });
  return rows;
}

MatchedBy matched_by(const Run& run, const Operation& operation) {
  if (run.groups()[operation.group.index()].by_ends) return MatchedBy::ends;
  if (is_point_to_point(run.text(operation.op))) return MatchedBy::sequence;
  const auto numbered = [&](std::uint32_t row) { return run.collectives()[row].sequence >= 0; };
  return std::ranges::all_of(operation.members, numbered) ? MatchedBy::sequence : MatchedBy::call_order;
}

/// Members of the operation that found partners: those that finished, where two did. Of `rows` only, if given.
std::int64_t matched_members(const Run& run, const Operation& operation, const RowSet* rows) {
  std::int64_t finished = 0;
  std::int64_t meant = 0;
  for (const std::uint32_t row : operation.members) {
    if (run.collectives()[row].state != CommState::finished) continue;
    ++finished;
    if (rows == nullptr || (*rows)[row]) ++meant;
  }
  return finished >= 2 ? meant : 0;
}

void count_matched(const Run& run, const Operation& operation, const RowSet* rows, CollectivesSection& section) {
  const std::int64_t members = matched_members(run, operation, rows);
  section.matched += members;
  section.matched_by[static_cast<std::size_t>(matched_by(run, operation))] += members;
}

RowSet matched_rows(const Run& run, std::span<const Operation> operations) {
  RowSet matched(run.collectives().size());
  const auto finished = [&](std::uint32_t row) { return run.collectives()[row].state == CommState::finished; };
  for (const Operation& operation : operations) {
    if (std::ranges::count_if(operation.members, finished) < 2) continue;
    for (const std::uint32_t row : operation.members) matched[row] = finished(row);
  }
  return matched;
}

void time_operations(const Run& run, const ClockTrust& clocks, const std::vector<std::size_t>& present,
                     Matching& matching, CollectivesSection& section) {
  std::uint64_t violations = 0;
  for (Operation& operation : section.operations) {
    note_starts(run, operation);
    if (!operation.complete) ++section.partial;
    count_matched(run, operation, nullptr, section);
    operation.why_no_wait = operation.why_no_transfer = why_not_timed(run, operation, present);
    if (!operation.why_no_wait.empty()) continue;
    violations += time_operation(run, clocks, operation, matching.parts);
    if (!may_have_waited_for_absent(run, operation)) continue;
    operation.why_no_transfer = "a rank of the group was not recorded, and may have been the last to arrive";
    for (const std::uint32_t row : operation.members) matching.parts[row].rest_is_transfer = false;
  }
  if (violations > 0) matching.quality.add(Counter::clock_violations, violations);
}

/// True if the run holds no other rank that the operation could be matched with: they were not given.
bool is_alone(const Run& run, const Collective& collective, const std::vector<std::size_t>& present) {
  if (!is_point_to_point(run.text(collective.op))) return present[collective.group.index()] < 2;
  return collective.peer >= 0 &&
         !std::ranges::binary_search(run.ranks(), RankId{static_cast<std::uint32_t>(collective.peer)});
}

RowSet alone_rows(const Run& run, const std::vector<std::size_t>& present) {
  RowSet alone;
  for (const Collective& row : run.collectives()) alone.push_back(is_shared(run, row) && is_alone(run, row, present));
  return alone;
}

void count_unmatched(const CollectivesSection& section, const RowSet& rows_alone, Quality& quality) {
  if (section.unmatched <= 0) return;
  const auto alone = std::min(std::ranges::count(rows_alone, true), section.unmatched);
  if (alone > 0) quality.add(Counter::collectives_alone, static_cast<std::uint64_t>(alone));
  if (alone < section.unmatched)
    quality.add(Counter::collectives_unmatched, static_cast<std::uint64_t>(section.unmatched - alone));
}

/// The largest distance between ends in one of the collectives that were found by them.
std::int64_t ends_apart_ns(const Run& run, std::span<const Operation> operations) {
  std::int64_t most = 0;
  for (const Operation& operation : operations) {
    if (!run.groups()[operation.group.index()].by_ends || is_point_to_point(run.text(operation.op)) ||
        !all_finished(run, operation))
      continue;
    const auto [first, last] = std::ranges::minmax(
        operation.members, {}, [&run](std::uint32_t row) { return run.collectives()[row].finished; });
    most = std::max(most, (run.collectives()[last].finished - run.collectives()[first].finished).count());
  }
  return most;
}

std::string key_of_collectives(const Run& run, const MatchedOperations& found, std::span<const Operation> operations) {
  if (found.by_ends)
    return format("end times that agree within {} (the recording names no groups)",
                  duration_text(ends_apart_ns(run, operations)));
  if (found.in_steps) return "group and call order in each step (sequence numbers are missing)";
  return found.by_call_order ? "group and call order (sequence numbers are missing)" : "group and sequence number";
}

std::string key_of(const Run& run, const MatchedOperations& found, std::span<const Operation> operations) {
  const auto is_pair = [&run](const Operation& operation) { return is_point_to_point(run.text(operation.op)); };
  constexpr std::string_view pairs = "times of sends and receives (the recording names no partners)";
  if (!found.pairs_by_times) return key_of_collectives(run, found, operations);
  if (std::ranges::all_of(operations, is_pair)) return std::string{pairs};
  return format("{}; {}", key_of_collectives(run, found, operations), pairs);
}

/// Why there is nothing to match.
std::string why_none(const Run& run) {
  if (run.collectives().empty()) return "no collectives were recorded";
  const bool known = std::ranges::any_of(run.collectives(), [](const Collective& row) { return row.group.is_set(); });
  if (known) return "every group has only one rank: nothing was communicated";
  return run.ranks().size() < 2 ? "the recording does not say which ranks took part in the collectives"
                                : "the recording does not say which ranks took part in the collectives, and too few "
                                  "calls end at the same time to infer it";
}

}  // namespace

bool is_shared(const Run& run, const Collective& collective) {
  return collective.group.is_set() && run.groups()[collective.group.index()].members.size() >= 2;
}

std::string group_operation(const Run& run, const Operation& operation) {
  const std::string_view op = run.text(operation.op);
  return is_point_to_point(op) ? "sendrecv" : std::string{op};
}

CollectivesSection select_members(const Run& run, const ClockTrust& clocks, const Matching& matching,
                                  const RowSet& rows) {
  CollectivesSection section = *matching.section;
  std::erase_if(section.operations, [&](const Operation& operation) {
    return std::ranges::none_of(operation.members, [&](std::uint32_t row) { return rows[row]; });
  });
  section.matched = section.partial = 0;
  section.matched_by = {};
  for (Operation& operation : section.operations) {
    operation.wait_ns = 0;
    for (const std::uint32_t row : operation.members)
      if (rows[row]) operation.wait_ns += matching.parts[row].wait_ns;
    count_matched(run, operation, &rows, section);
    if (!operation.complete) ++section.partial;
  }
  std::int64_t meant = 0;
  for (const Collective& collective : run.collectives())
    if (rows[static_cast<std::size_t>(&collective - run.collectives().data())] && is_shared(run, collective)) ++meant;
  section.unmatched = meant - section.matched;
  section.unmatched_parts = explain_unmatched(run, matching.matched, matching.desynced, &rows);
  section.groups = sum_groups(run, clocks, section.operations);
  return section;
}

Matching match_collectives(const Run& run, const ClockTrust& clocks) {
  Matching matching;
  matching.parts.resize(run.collectives().size());
  MatchedOperations found = match_operations(run, clocks);
  if (found.rows == 0) {
    matching.section = unavailable(why_none(run));
    return matching;
  }
  CollectivesSection section;
  section.operations = std::move(found.operations);
  section.desyncs = std::move(found.desyncs);
  section.key = key_of(run, found, section.operations);
  const std::vector<std::size_t> present = count_present(run);
  time_operations(run, clocks, present, matching, section);
  section.unmatched = static_cast<std::int64_t>(found.rows) - section.matched;
  matching.matched = matched_rows(run, section.operations);
  matching.desynced.resize(run.collectives().size());
  for (const std::uint32_t row : found.desynced_rows) matching.desynced[row] = true;
  section.unmatched_parts = explain_unmatched(run, matching.matched, matching.desynced, nullptr);
  std::ranges::sort(section.operations, {}, [](const Operation& operation) {
    return std::tuple(operation.first_start, operation.group, operation.sequence, operation.members.front());
  });
  section.groups = sum_groups(run, clocks, section.operations);
  matching.alone = alone_rows(run, present);
  count_unmatched(section, matching.alone, matching.quality);
  if (found.desynced_operations > 0) matching.quality.add(Counter::desync, found.desynced_operations);
  if (found.by_call_order) matching.quality.add(Counter::no_comm_args);
  matching.section = std::move(section);
  return matching;
}

}  // namespace rankscope::analyzer
