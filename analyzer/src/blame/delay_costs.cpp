#include "blame/delay_costs.h"

#include <algorithm>
#include <numeric>

#include "math/apportion.h"

namespace rankscope::analyzer {

DelayCosts::DelayCosts(const Run& run, const ClockTrust& clocks, const Matching& matching, const EarlierUnits& earlier,
                       const MemberTimes& times)
    : run_(run),
      clocks_(clocks),
      matching_(matching),
      earlier_(earlier),
      times_(times),
      handed_on_(run.collectives().size(), 0) {
  for (const RankId rank : run.ranks()) {
    rows_.emplace_back();
    rows_.back().rank = rank;
  }
}

/// Without a common clock the end of the first wait is on the clock of its rank: where clocks differ by more than the
/// operations lie apart, waits are then inherited by nobody, and charged as unexplained.
void DelayCosts::order_units() {
  const std::vector<Unit>& units = matching_.section->units;
  std::vector<std::int64_t> ends(units.size(), 0);
  for (std::uint32_t i = 0; i < units.size(); ++i) {
    if (!tells_waits(run_, units[i])) continue;
    order_.push_back(i);
    ends[i] = ns_of(units[i].first_start);
    for (const std::uint32_t row : units[i].members) {
      const std::int64_t wait = matching_.parts[row].wait_ns;
      if (wait == 0) continue;
      ends[i] = ns_of(run_.collectives()[row].started) + wait;
      break;
    }
  }
  std::ranges::stable_sort(order_, {}, [&](std::uint32_t unit) { return ends[unit]; });
  place_.assign(units.size(), 0);
  for (std::uint32_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
}

void DelayCosts::charge_all() {
  order_units();
  for (auto unit = order_.rbegin(); unit != order_.rend(); ++unit) charge(*unit);
}

void DelayCosts::charge(std::uint32_t unit) {
  const Unit& what = matching_.section->units[unit];
  std::vector<std::uint32_t> waiting_rows;
  for (const std::uint32_t row : what.members)
    if (times_.of(row).counted_ns + handed_on_[row] > 0) waiting_rows.push_back(row);
  if (waiting_rows.empty()) return;
  if (!what.complete) {  // a rank that was not recorded may have been later
    for (const std::uint32_t row : waiting_rows) unknown_ns_ += handed_on_[row];
    return;
  }
  const Awaited awaited{run_, clocks_, what};
  std::erase_if(waiting_rows, [&](std::uint32_t row) {
    const bool fact = awaited.is_fact(run_.collectives()[row], matching_.parts[row].wait_ns);
    if (!fact) unknown_ns_ += times_.of(row).counted_ns + handed_on_[row];
    return !fact;
  });
  if (!waiting_rows.empty()) charge_facts(unit, awaited, waiting_rows);
}

void DelayCosts::charge_facts(std::uint32_t unit, const Awaited& awaited, std::span<const std::uint32_t> waiting_rows) {
  const auto together = earlier_.last_together(waiting_rows, awaited.row());
  std::vector<Pool> pools;  // few: most of the waiting ranks were last together with the awaited one at the same time
  for (std::size_t i = 0; i < waiting_rows.size(); ++i) {
    const auto since = together[i] ? std::optional{together[i]->of_awaited} : std::nullopt;
    auto pool = std::ranges::find(pools, since, &Pool::since);
    if (pool == pools.end()) {
      pools.push_back(pool_of(unit, awaited.row(), since));
      pool = pools.end() - 1;
    }
    charge_wait(waiting_rows[i], awaited.row(), excess_of(waiting_rows[i], awaited, together[i]),
                together[i].has_value(), *pool);
  }
  for (const Pool& pool : pools) {
    const std::vector<std::int64_t> shares = apportioned(pool.weights, pool.inherited_ns);
    for (std::size_t i = 0; i < pool.rows.size(); ++i) handed_on_[pool.rows[i]] += shares[i];
  }
}

DelayCosts::Excess DelayCosts::excess_of(std::uint32_t row, const Awaited& awaited,
                                         const std::optional<LastTogether>& together) const {
  Excess excess{};
  const MemberTime& own = times_.of(row);
  const MemberTime& late = times_.of(awaited.row());
  Spent own_before{};
  Spent late_before{};
  if (together) {
    own_before = times_.of(together->of_waiting).at_end;
    late_before = times_.of(together->of_awaited).at_end;
    const auto end_of = [this](std::uint32_t member) { return ns_of(run_.collectives()[member].finished); };
    if (awaited.by_run_time()) excess[later_end] = end_of(together->of_awaited) - end_of(together->of_waiting);
  } else {
    const Beginning own_begin = times_.beginning_of(row);
    const Beginning late_begin = times_.beginning_of(awaited.row());
    own_before = own_begin.spent;
    late_before = late_begin.spent;
    if (awaited.by_run_time()) excess[later_end] = ns_of(late_begin.time) - ns_of(own_begin.time);
  }
  for (std::size_t i = 0; i < delay_part_count; ++i)
    excess[i] = (late.at_start[i] - late_before[i]) - (own.at_start[i] - own_before[i]);
  for (std::int64_t& part : excess) part = std::max<std::int64_t>(0, part);
  return excess;
}

DelayCosts::Pool DelayCosts::pool_of(std::uint32_t unit, std::uint32_t awaited,
                                     std::optional<std::uint32_t> since) const {
  const Collective& late = run_.collectives()[awaited];
  const RunTime from = since ? run_.collectives()[*since].finished : times_.beginning_of(awaited).time;
  const auto started = [this](std::uint32_t row) { return run_.collectives()[row].started; };
  const std::vector<std::uint32_t>& waits = times_.waits_of(late.rank);
  Pool pool{since, {}, {}, 0};
  for (auto at = std::ranges::lower_bound(waits, late.started, {}, started); at != waits.begin();) {
    const std::uint32_t row = *--at;
    if (started(row) + nanoseconds{matching_.parts[row].wait_ns} <= from) break;
    const std::uint32_t its_unit = earlier_.unit_of(row);
    if (its_unit == EarlierUnits::none || place_[its_unit] >= place_[unit] || times_.of(row).exposed_ns == 0) continue;
    pool.rows.push_back(row);
    pool.weights.push_back(times_.of(row).exposed_ns);
  }
  return pool;
}

void DelayCosts::charge_wait(std::uint32_t row, std::uint32_t awaited, const Excess& excess, bool common, Pool& pool) {
  Excess parts = excess;
  BlameRow& late = rows_[place_of(run_, run_.collectives()[awaited].rank)];
  const auto charge_parts = [&](std::int64_t ns, DelayParts& sums) {
    if (ns == 0) return;
    const std::vector<std::int64_t> shares = apportioned(parts, ns);
    const std::int64_t given = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
    for (std::size_t i = 0; i < waiting; ++i) sums[i] += shares[i];
    pool.inherited_ns += pool.rows.empty() ? 0 : shares[waiting];
    const auto unexplained = static_cast<std::size_t>(DelayPart::unexplained);
    if (pool.rows.empty()) sums[unexplained] += shares[waiting];
    sums[common ? static_cast<std::size_t>(DelayPart::network) : unexplained] += shares[later_end];
    sums[unexplained] += ns - given;
  };
  charge_parts(times_.of(row).counted_ns, late.direct_ns);
  charge_parts(handed_on_[row], late.inherited_ns);
}

}  // namespace rankscope::analyzer
