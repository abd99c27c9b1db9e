#include "blame/parts.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "blame/delay_costs.h"
#include "math/checked_product.h"
#include "rankscope/core/model/run.h"
#include "split/row_sums.h"
#include "steps/counted_windows.h"

namespace rankscope::analyzer {
namespace {

constexpr const char* too_long = "the sum of the waiting times does not fit in 64 bits";

/// Direct waits, without asking what was behind them.
class DirectWaits {
 public:
  DirectWaits(const Run& run, const ClockTrust& clocks, const Matching& matching, const MemberTimes& times)
      : run_(run), clocks_(clocks), matching_(matching), times_(times) {}

  void add(const Operation& operation) {
    const LastToArrive last_to_arrive{run_, clocks_, operation};
    const RankId rank = run_.collectives()[last_to_arrive.row()].rank;
    std::int64_t known = 0;
    std::int64_t unknown = 0;
    for (const std::uint32_t row : operation.members) {
      const std::int64_t ns = times_.of(row).counted_ns;
      if (ns == 0) continue;
      const Collective& waiting = run_.collectives()[row];
      const bool fact = last_to_arrive.is_fact(waiting, matching_.parts[row].wait_ns);
      (fact ? known : unknown) += ns;
      if (fact) pairs_[{waiting.rank, rank}] += ns;
    }
    if (known + unknown == 0) return;
    (last_to_arrive.by_run_time() ? run_time_ : duration_) = true;
    unknown_ns_ += unknown;
    Sums& sums = groups_[{operation.group, group_operation(run_, operation)}];
    ++sums.count;
    sums.ns += known + unknown;
    if (known == 0) return;
    sums.by_last_to_arrive[rank] += known;
    Lateness& late = lateness_[rank];
    late.marginal_ns += last_to_arrive.marginal_ns();
    ++late.times;
  }

  [[nodiscard]] std::vector<WaitingPair> pairs() const {
    std::vector<WaitingPair> list;
    for (const auto& [ranks, ns] : pairs_) list.push_back({ranks.first, ranks.second, ns});
    std::ranges::stable_sort(list, std::greater{}, &WaitingPair::ns);
    return list;
  }
  [[nodiscard]] std::vector<BlameGroup> groups() const {
    std::vector<BlameGroup> list;
    for (const auto& [key, sums] : groups_) {
      BlameGroup group{.id = key.first,
                       .group = std::string{run_.text(run_.groups()[key.first.index()].name)},
                       .op = key.second,
                       .count = sums.count,
                       .ns = sums.ns};
      for (const auto& [rank, ns] : sums.by_last_to_arrive)
        if (ns > group.most_waited_for_ns)
          std::tie(group.most_waited_for, group.most_waited_for_ns) = std::pair(rank, ns);
      list.push_back(std::move(group));
    }
    std::ranges::stable_sort(list, std::greater{}, &BlameGroup::ns);
    return list;
  }
  void add_lateness(const Run& run, std::vector<BlameRow>& rows) const {
    for (const auto& [rank, late] : lateness_) {
      BlameRow& row = rows[run.place_of(rank)];
      row.marginal_ns = late.marginal_ns;
      row.times_last = late.times;
    }
  }
  [[nodiscard]] std::int64_t unknown_ns() const { return unknown_ns_; }
  [[nodiscard]] std::string method() const {
    if (run_time_ && duration_) return "run time and duration";
    return duration_ ? "duration" : "run time";
  }

 private:
  struct Sums {
    std::int64_t count = 0;
    std::int64_t ns = 0;
    std::map<RankId, std::int64_t> by_last_to_arrive;
  };
  /// Of a rank, over the operations that others waited for it in.
  struct Lateness {
    std::int64_t marginal_ns = 0;
    std::int64_t times = 0;
  };

  const Run& run_;
  const ClockTrust& clocks_;
  const Matching& matching_;
  const MemberTimes& times_;
  std::map<std::pair<RankId, RankId>, std::int64_t> pairs_;  // (waiting, last_to_arrive)
  std::map<std::pair<GroupId, std::string>, Sums> groups_;
  std::map<RankId, Lateness> lateness_;
  std::int64_t unknown_ns_ = 0;
  bool run_time_ = false;
  bool duration_ = false;
};

/// Fills total and partial; false if they do not fit.
bool add_up(const Run& run, const EarlierOperations& earlier, std::span<const Operation> operations,
            const MemberTimes& times, BlameSection& section) {
  for (std::uint32_t row = 0; row < run.collectives().size(); ++row) {
    const std::uint32_t operation = earlier.operation_of(row);
    const bool complete = operation != EarlierOperations::none && operations[operation].complete;
    if (!add_fits(complete ? section.total_ns : section.partial_ns, times.of(row).counted_ns)) return false;
  }
  return true;
}

/// They add up to total_ns.
std::vector<std::int64_t> waits_of_operations(std::span<const Operation> operations, const MemberTimes& times) {
  std::vector<std::int64_t> waits;
  for (const Operation& operation : operations) {
    waits.push_back(0);
    if (!operation.complete) continue;
    for (const std::uint32_t row : operation.members) waits.back() += times.of(row).counted_ns;
  }
  return waits;
}

std::vector<BlameRow> rows_of(const Run& run, std::vector<BlameRow> costs, const DirectWaits& direct,
                              const EarlierOperations& earlier, std::span<const Operation> operations,
                              const MemberTimes& times) {
  for (std::uint32_t row = 0; row < run.collectives().size(); ++row) {
    const std::uint32_t operation = earlier.operation_of(row);
    if (operation != EarlierOperations::none && operations[operation].complete)
      costs[run.place_of(run.collectives()[row].rank)].waited_ns += times.of(row).counted_ns;
  }
  direct.add_lateness(run, costs);
  std::erase_if(costs, [](const BlameRow& row) { return row.cost_ns() == 0 && row.waited_ns == 0; });
  std::ranges::stable_sort(costs, std::greater{}, &BlameRow::cost_ns);
  return costs;
}

void add_windows(const std::vector<RankRow>& rows, const ReportOptions& options, BlameSection& section) {
  for (const RankRow* row : asked_rows_to_sum(rows, options)) {
    ++section.ranks;
    section.window_ns += row->total.window_ns;
    section.rank_steps += static_cast<std::int64_t>(row->per_step.size());
  }
}

}  // namespace

std::int64_t BlameRow::direct() const { return std::accumulate(direct_ns.begin(), direct_ns.end(), std::int64_t{0}); }

std::int64_t BlameRow::cost_ns() const { return std::accumulate(inherited_ns.begin(), inherited_ns.end(), direct()); }

DelayPart BlameRow::largest_part() const {
  auto largest = DelayPart::compute;
  for (std::size_t i = 0; i < delay_part_count; ++i)
    if (of(static_cast<DelayPart>(i)) > of(largest)) largest = static_cast<DelayPart>(i);
  return largest;
}

std::string_view name_of(DelayPart part) {
  switch (part) {
    case DelayPart::compute:
      return "compute";
    case DelayPart::host:
      return "host";
    case DelayPart::data:
      return "data";
    case DelayPart::memory:
      return "memory";
    case DelayPart::network:
      return "network";
    case DelayPart::unmatched:
      return "unmatched";
    case DelayPart::unexplained:
      return "unexplained";
  }
  return "?";
}

BlameResult find_blame(const Run& run, const ClockTrust& clocks, const Section<StepsSection>& steps,
                       const Section<std::vector<RankRow>>& rows, const Matching& matching,
                       const ReportOptions& options) {
  const auto none = [](std::string why) { return BlameResult{unavailable(std::move(why)), {}}; };
  if (run.ranks().size() < 2) return none("the recordings of at least two ranks are needed");
  if (!matching.section) return none(matching.section.error().why);
  if (!rows) return none(rows.error().why);
  const std::span<const Operation> operations = matching.section->operations;
  const auto shows = [&run](const Operation& operation) { return shows_waits(run, operation); };
  if (std::ranges::none_of(operations, shows)) return none("no operation shows which rank waited for which");
  const EarlierOperations earlier{run, clocks, operations};
  const MemberTimes times{run, steps, matching, options};
  BlameSection section;
  if (!add_up(run, earlier, operations, times, section)) return none(too_long);
  add_windows(*rows, options, section);
  DelayCosts costs{run, clocks, matching, earlier, times};
  costs.charge_all();
  DirectWaits direct{run, clocks, matching, times};
  for (const Operation& operation : operations)
    if (operation.complete && shows(operation)) direct.add(operation);
  section.unknown_ns = costs.unknown_ns();
  section.rows = rows_of(run, std::move(costs).rows(), direct, earlier, operations, times);
  section.groups = direct.groups();
  section.pairs = direct.pairs();
  section.pairs_unknown_ns = direct.unknown_ns();
  section.method = direct.method();
  return {std::move(section), waits_of_operations(operations, times)};
}

void set_slack(const Run& run, std::span<const Operation> operations, const std::vector<bool>& operation_has_slack,
               std::span<const std::int64_t> waits_ns, BlameSection& blame) {
  std::int64_t total = 0;
  for (std::size_t row = 0; row < operations.size(); ++row) {
    if (!operation_has_slack[row] || waits_ns[row] == 0) continue;
    total += waits_ns[row];
    const auto group = std::ranges::find_if(blame.groups, [&](const BlameGroup& one) {
      return one.id == operations[row].group && one.op == group_operation(run, operations[row]);
    });
    if (group != blame.groups.end()) group->with_slack_ns += waits_ns[row];
  }
  blame.with_slack_ns = total;
}

}  // namespace rankscope::analyzer
