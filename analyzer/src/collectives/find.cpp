#include "collectives/find.h"

#include <algorithm>
#include <tuple>

#include "collectives/comm_ops.h"
#include "collectives/matching.h"
#include "collectives/unit_speed.h"
#include "collectives/unit_times.h"
#include "collectives/unmatched.h"
#include "math/checked_product.h"

namespace rankscope::analyzer {
namespace {

bool all_finished(const Run& run, const Unit& unit) {
  return std::ranges::all_of(unit.members,
                             [&](std::uint32_t row) { return run.collectives()[row].state == CommState::finished; });
}

/// By group: how many of its members the run holds. Counted once, because groups of thousands have thousands of units.
std::vector<std::size_t> count_present(const Run& run) {
  std::vector<std::size_t> present;
  for (const Group& group : run.groups())
    present.push_back(static_cast<std::size_t>(std::ranges::count_if(
        group.members, [&](RankId rank) { return std::ranges::binary_search(run.ranks(), rank); })));
  return present;
}

/// Why the unit has neither wait nor transfer; empty if every member of the group that the run holds has finished its
/// part. Ranks that are absent from the whole run make waits lower bounds (C7); one that only lacks this unit stands at
/// an edge of the recording or was lost.
std::string_view why_not_timed(const Run& run, const Unit& unit, const std::vector<std::size_t>& present) {
  if (!all_finished(run, unit)) return "not finished on all of its ranks";
  if (!unit.complete) {
    if (comm_op(run.text(unit.op)).wait == WaitRule::pair) return "its partner was not found";
    if (present[unit.group.index()] != unit.members.size()) return "not found on all of its ranks";
  }
  return unit.members.size() < 2 ? "only one rank of its group was recorded" : std::string_view{};
}

void note_starts(const Run& run, Unit& unit) {
  unit.first_start = run.collectives()[unit.members.front()].started;
  unit.last_start = unit.first_start;
  for (const std::uint32_t row : unit.members) {
    unit.first_start = std::min(unit.first_start, run.collectives()[row].started);
    unit.last_start = std::max(unit.last_start, run.collectives()[row].started);
  }
}

/// Adds a reason to a list that has each once.
void add_reason(std::string& list, std::string_view why) {
  if (list.find(why) == std::string::npos) list.append(list.empty() ? "" : "; ").append(why);
}

/// Sums of one (group, op), from its units in any order.
class GroupSums {
 public:
  GroupSums(const Run& run, const Unit& unit) {
    row_.group = run.text(run.groups()[unit.group.index()].name);
    row_.op = group_operation(run, unit);
  }
  void add(const Run& run, const ClockTrust& clocks, const Unit& unit) {
    ++row_.count;
    if (is_timed_by_duration(run, clocks, unit)) ++by_duration_;
    add_bytes(unit);
    row_.wait_ns += unit.wait_ns;
    row_.transfer_ns += unit.transfer_ns;
    if (!unit.why_no_wait.empty()) {
      ++row_.without_wait;
      add_reason(row_.why_no_wait, unit.why_no_wait);
    }
    if (!unit.why_no_transfer.empty()) {
      ++row_.without_transfer;
      add_reason(row_.why_no_transfer, unit.why_no_transfer);
    }
    const std::string_view why = why_no_bandwidth(run, clocks, unit);
    if (!why.empty()) {
      add_reason(row_.why_no_busbw, why);
      return;
    }
    bus_bytes_ += bus_bytes(run, unit);
    bus_ns_ += unit.transfer_ns;
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
  void add_bytes(const Unit& unit) {
    std::int64_t sum = std::max<std::int64_t>(row_.bytes, 0);
    if (unit.bytes_too_large || (unit.bytes >= 0 && !add_fits(sum, unit.bytes)))
      ++row_.bytes_too_large;
    else if (unit.bytes >= 0)
      row_.bytes = sum;
  }

  GroupRow row_;
  double bus_bytes_ = 0;
  std::int64_t bus_ns_ = 0;
  std::int64_t by_duration_ = 0;  // units
};

std::vector<GroupRow> sum_groups(const Run& run, const ClockTrust& clocks, std::span<const Unit> units) {
  std::vector<std::pair<std::tuple<GroupId, std::string>, const Unit*>> order;
  for (const Unit& unit : units) order.emplace_back(std::tuple(unit.group, group_operation(run, unit)), &unit);
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

/// Members of the unit that found partners: those that finished, where two did. Of `rows` only, if given.
std::int64_t matched_members(const Run& run, const Unit& unit, const RowSet* rows) {
  std::int64_t finished = 0;
  std::int64_t meant = 0;
  for (const std::uint32_t row : unit.members) {
    if (run.collectives()[row].state != CommState::finished) continue;
    ++finished;
    if (rows == nullptr || (*rows)[row]) ++meant;
  }
  return finished >= 2 ? meant : 0;
}

RowSet matched_rows(const Run& run, std::span<const Unit> units) {
  RowSet matched(run.collectives().size());
  const auto finished = [&](std::uint32_t row) { return run.collectives()[row].state == CommState::finished; };
  for (const Unit& unit : units) {
    if (std::ranges::count_if(unit.members, finished) < 2) continue;
    for (const std::uint32_t row : unit.members) matched[row] = finished(row);
  }
  return matched;
}

void time_units(const Run& run, const ClockTrust& clocks, const std::vector<std::size_t>& present, Matching& matching,
                CollectivesSection& section) {
  std::uint64_t violations = 0;
  for (Unit& unit : section.units) {
    note_starts(run, unit);
    if (!unit.complete) ++section.partial;
    section.matched += matched_members(run, unit, nullptr);
    unit.why_no_wait = unit.why_no_transfer = why_not_timed(run, unit, present);
    if (unit.why_no_wait.empty()) violations += time_unit(run, clocks, unit, matching.parts);
  }
  if (violations > 0) matching.quality.add(Counter::clock_violations, violations);
}

/// True if the run holds no other rank that the operation could be matched with: they were not given.
bool is_alone(const Run& run, const Collective& collective, const std::vector<std::size_t>& present) {
  if (!is_point_to_point(run.text(collective.op))) return present[collective.group.index()] < 2;
  return collective.peer >= 0 &&
         !std::ranges::binary_search(run.ranks(), RankId{static_cast<std::uint32_t>(collective.peer)});
}

void count_unmatched(const Run& run, const CollectivesSection& section, const std::vector<std::size_t>& present,
                     Quality& quality) {
  if (section.unmatched <= 0) return;
  const auto shared_and_alone = [&](const Collective& row) {
    return is_shared(run, row) && is_alone(run, row, present);
  };
  const auto alone = std::min(std::ranges::count_if(run.collectives(), shared_and_alone), section.unmatched);
  if (alone > 0) quality.add(Counter::collectives_alone, static_cast<std::uint64_t>(alone));
  if (alone < section.unmatched)
    quality.add(Counter::collectives_unmatched, static_cast<std::uint64_t>(section.unmatched - alone));
}

std::string key_of(const MatchedUnits& found) {
  if (found.by_ends) return "ends that agree within 1 ms (the recording names no groups)";
  return found.by_call_order ? "group and call order (sequence numbers are missing)" : "group and sequence";
}

/// Why there is nothing to match.
std::string why_none(const Run& run) {
  if (run.collectives().empty()) return "no collectives were recorded";
  const bool known = std::ranges::any_of(run.collectives(), [](const Collective& row) { return row.group.is_set(); });
  return known ? "every group has one rank only: nothing was communicated"
               : "the collectives do not say who took part (traces before 2024), so they cannot be matched";
}

}  // namespace

bool is_shared(const Run& run, const Collective& collective) {
  return collective.group.is_set() && run.groups()[collective.group.index()].members.size() >= 2;
}

std::string group_operation(const Run& run, const Unit& unit) {
  const std::string_view op = run.text(unit.op);
  return is_point_to_point(op) ? "sendrecv" : std::string{op};
}

CollectivesSection select_members(const Run& run, const ClockTrust& clocks, const Matching& matching,
                                  const RowSet& rows) {
  CollectivesSection section = *matching.section;
  std::erase_if(section.units, [&](const Unit& unit) {
    return std::ranges::none_of(unit.members, [&](std::uint32_t row) { return rows[row]; });
  });
  section.matched = section.partial = 0;
  for (Unit& unit : section.units) {
    unit.wait_ns = 0;
    for (const std::uint32_t row : unit.members)
      if (rows[row]) unit.wait_ns += matching.parts[row].wait_ns;
    section.matched += matched_members(run, unit, &rows);
    if (!unit.complete) ++section.partial;
  }
  std::int64_t meant = 0;
  for (const Collective& collective : run.collectives())
    if (rows[static_cast<std::size_t>(&collective - run.collectives().data())] && is_shared(run, collective)) ++meant;
  section.unmatched = meant - section.matched;
  section.unmatched_parts = explain_unmatched(run, matching.matched, matching.desynced, &rows);
  section.groups = sum_groups(run, clocks, section.units);
  return section;
}

Matching match_collectives(const Run& run, const ClockTrust& clocks) {
  Matching matching;
  matching.parts.resize(run.collectives().size());
  MatchedUnits found = match_units(run);
  if (found.rows == 0) {
    matching.section = unavailable(why_none(run));
    return matching;
  }
  CollectivesSection section;
  section.units = std::move(found.units);
  section.desyncs = std::move(found.desyncs);
  section.key = key_of(found);
  const std::vector<std::size_t> present = count_present(run);
  time_units(run, clocks, present, matching, section);
  section.unmatched = static_cast<std::int64_t>(found.rows) - section.matched;
  matching.matched = matched_rows(run, section.units);
  matching.desynced.resize(run.collectives().size());
  for (const std::uint32_t row : found.desynced_rows) matching.desynced[row] = true;
  section.unmatched_parts = explain_unmatched(run, matching.matched, matching.desynced, nullptr);
  std::ranges::sort(section.units, {}, [](const Unit& unit) {
    return std::tuple(unit.first_start, unit.group, unit.sequence, unit.members.front());
  });
  section.groups = sum_groups(run, clocks, section.units);
  count_unmatched(run, section, present, matching.quality);
  if (found.desynced_units > 0) matching.quality.add(Counter::desync, found.desynced_units);
  if (found.by_call_order) matching.quality.add(Counter::no_comm_args);
  matching.section = std::move(section);
  return matching;
}

}  // namespace rankscope::analyzer
