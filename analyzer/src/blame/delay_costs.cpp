#include "blame/delay_costs.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "blame/member_times.h"
#include "math/apportion.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

// Where all members of a group meet again and again the search ends at once; this is for those that never do.
constexpr std::size_t farthest_back = 1'000;

}  // namespace

bool shows_waits(const Run& run, const Operation& operation) {
  return operation.why_no_wait.empty() && std::ranges::all_of(operation.members, [&](std::uint32_t row) {
           return run.collectives()[row].rank.is_set();
         });
}

EarlierOperations::EarlierOperations(const Run& run, const ClockTrust& clocks, std::span<const Operation> operations)
    : run_(run),
      clocks_(clocks),
      operations_(operations),
      operation_of_(run.collectives().size(), none),
      rows_by_rank_(run.ranks().size()),
      place_in_rank_(run.collectives().size(), none) {
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (!shows_waits(run, operations[i])) continue;
    for (const std::uint32_t row : operations[i].members) {
      operation_of_[row] = i;
      rows_by_rank_[run.place_of(run.collectives()[row].rank)].push_back(row);
    }
  }
  for (std::vector<std::uint32_t>& rows : rows_by_rank_) {
    std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) { return run.collectives()[row].started; });
    for (std::uint32_t i = 0; i < rows.size(); ++i) place_in_rank_[rows[i]] = i;
  }
}

bool EarlierOperations::ended_before(std::uint32_t earlier, std::uint32_t row) const {
  return run_.collectives()[earlier].finished <= run_.collectives()[row].started;
}

bool EarlierOperations::were_together(std::uint32_t row, std::uint32_t later) const {
  const Collective& ended = run_.collectives()[row];
  const Collective& begun = run_.collectives()[later];
  const std::array ranks{ended.rank, begun.rank};
  const std::int64_t gap_ns = ns_of(begun.started) - ns_of(ended.finished);
  return gap_ns <= 0 || !clocks_.comparable(ranks) || !clocks_.is_fact(gap_ns, ranks);
}

std::size_t EarlierOperations::meet(const Operation& operation, std::uint32_t of_last_to_arrive,
                                    std::span<const std::uint32_t> waiting,
                                    std::vector<std::optional<LastTogether>>& found) const {
  const auto rank_of = [this](std::uint32_t row) { return run_.collectives()[row].rank; };
  std::size_t met = 0;
  const auto take = [&](std::size_t i, std::uint32_t row) {
    if (found[i] || !ended_before(row, waiting[i]) || !were_together(row, of_last_to_arrive)) return;
    found[i] = LastTogether{row, of_last_to_arrive};
    ++met;
  };
  // Through the shorter of both lists.
  if (operation.members.size() <= waiting.size()) {
    for (const std::uint32_t row : operation.members) {
      const auto at = std::ranges::lower_bound(waiting, rank_of(row), {}, rank_of);
      if (at != waiting.end() && rank_of(*at) == rank_of(row))
        take(static_cast<std::size_t>(at - waiting.begin()), row);
    }
    return met;
  }
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const auto at = std::ranges::lower_bound(operation.members, rank_of(waiting[i]), {}, rank_of);
    if (at != operation.members.end() && rank_of(*at) == rank_of(waiting[i])) take(i, *at);
  }
  return met;
}

std::vector<std::optional<LastTogether>> EarlierOperations::last_together(std::span<const std::uint32_t> waiting,
                                                                          std::uint32_t last_to_arrive) const {
  std::vector<std::optional<LastTogether>> found(waiting.size());
  const std::vector<std::uint32_t>& rows = rows_by_rank_[run_.place_of(run_.collectives()[last_to_arrive].rank)];
  std::size_t left = waiting.size();
  std::size_t walked = 0;
  for (std::size_t i = place_in_rank_[last_to_arrive]; i > 0 && left > 0 && walked < farthest_back; --i, ++walked) {
    const std::uint32_t row = rows[i - 1];
    if (ended_before(row, last_to_arrive)) left -= meet(operations_[operation_of_[row]], row, waiting, found);
  }
  return found;
}

DelayCosts::DelayCosts(const Run& run, const ClockTrust& clocks, const Matching& matching,
                       const EarlierOperations& earlier, const MemberTimes& times)
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
void DelayCosts::order_operations() {
  const std::vector<Operation>& operations = matching_.section->operations;
  std::vector<std::int64_t> ends(operations.size(), 0);
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (!shows_waits(run_, operations[i])) continue;
    order_.push_back(i);
    ends[i] = ns_of(operations[i].first_start);
    for (const std::uint32_t row : operations[i].members) {
      const std::int64_t wait = matching_.parts[row].wait_ns;
      if (wait == 0) continue;
      ends[i] = ns_of(run_.collectives()[row].started) + wait;
      break;
    }
  }
  std::ranges::stable_sort(order_, {}, [&](std::uint32_t operation) { return ends[operation]; });
  place_.assign(operations.size(), 0);
  for (std::uint32_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
}

void DelayCosts::charge_all() {
  order_operations();
  for (auto operation = order_.rbegin(); operation != order_.rend(); ++operation) charge(*operation);
}

void DelayCosts::charge(std::uint32_t operation) {
  const Operation& what = matching_.section->operations[operation];
  std::vector<std::uint32_t> waiting_rows;
  for (const std::uint32_t row : what.members)
    if (times_.of(row).counted_ns + handed_on_[row] > 0) waiting_rows.push_back(row);
  if (waiting_rows.empty()) return;
  if (!what.complete) {  // a rank that was not recorded may have been later
    for (const std::uint32_t row : waiting_rows) unknown_ns_ += handed_on_[row];
    return;
  }
  const LastToArrive last_to_arrive{run_, clocks_, what};
  std::erase_if(waiting_rows, [&](std::uint32_t row) {
    const bool fact = last_to_arrive.is_fact(run_.collectives()[row], matching_.parts[row].wait_ns);
    if (!fact) unknown_ns_ += times_.of(row).counted_ns + handed_on_[row];
    return !fact;
  });
  if (!waiting_rows.empty()) charge_facts(operation, last_to_arrive, waiting_rows);
}

void DelayCosts::charge_facts(std::uint32_t operation, const LastToArrive& last_to_arrive,
                              std::span<const std::uint32_t> waiting_rows) {
  BlameRow& late = rows_[run_.place_of(run_.collectives()[last_to_arrive.row()].rank)];
  const std::int64_t cost_before = late.cost_ns();
  const auto together = earlier_.last_together(waiting_rows, last_to_arrive.row());
  std::vector<Pool>
      pools;  // few: most of the waiting ranks were last together with the last_to_arrive one at the same time
  for (std::size_t i = 0; i < waiting_rows.size(); ++i) {
    const auto since = together[i] ? std::optional{together[i]->of_last_to_arrive} : std::nullopt;
    auto pool = std::ranges::find(pools, since, &Pool::since);
    if (pool == pools.end()) {
      pools.push_back(pool_of(operation, last_to_arrive.row(), since));
      pool = pools.end() - 1;
    }
    charge_wait(waiting_rows[i], last_to_arrive.row(), excess_of(waiting_rows[i], last_to_arrive, together[i]),
                together[i].has_value(), *pool);
  }
  late.longest_ns = std::max(late.longest_ns, late.cost_ns() - cost_before);
  for (const Pool& pool : pools) {
    const std::vector<std::int64_t> shares = apportioned(pool.weights, pool.inherited_ns);
    for (std::size_t i = 0; i < pool.rows.size(); ++i) handed_on_[pool.rows[i]] += shares[i];
  }
}

DelayCosts::Excess DelayCosts::excess_of(std::uint32_t row, const LastToArrive& last_to_arrive,
                                         const std::optional<LastTogether>& together) const {
  Excess excess{};
  const MemberTime& own = times_.of(row);
  const MemberTime& late = times_.of(last_to_arrive.row());
  Spent own_before{};
  Spent late_before{};
  if (together) {
    own_before = times_.of(together->of_waiting).at_end;
    late_before = times_.of(together->of_last_to_arrive).at_end;
    const auto end_of = [this](std::uint32_t member) { return ns_of(run_.collectives()[member].finished); };
    if (last_to_arrive.by_run_time())
      excess[later_end] = end_of(together->of_last_to_arrive) - end_of(together->of_waiting);
  } else {
    const Beginning own_begin = times_.beginning_of(row);
    const Beginning late_begin = times_.beginning_of(last_to_arrive.row());
    own_before = own_begin.spent;
    late_before = late_begin.spent;
    if (last_to_arrive.by_run_time()) excess[later_end] = ns_of(late_begin.time) - ns_of(own_begin.time);
  }
  for (std::size_t i = 0; i < delay_part_count; ++i)
    excess[i] = (late.at_start[i] - late_before[i]) - (own.at_start[i] - own_before[i]);
  for (std::int64_t& part : excess) part = std::max<std::int64_t>(0, part);
  if (together) take_from_later_end(times_.of(together->of_last_to_arrive).work, excess);
  return excess;
}

/// A send or receive that ended later because its thread did something else first: that is what made the rank late.
void DelayCosts::take_from_later_end(const WorkDuringPair& work, Excess& excess) {
  const std::int64_t taken = std::min(excess[later_end], work.compute_ns + work.host_ns);
  const std::vector<std::int64_t> shares = apportioned(std::array{work.compute_ns, work.host_ns}, taken);
  excess[static_cast<std::size_t>(DelayPart::compute)] += shares[0];
  excess[static_cast<std::size_t>(DelayPart::host)] += shares[1];
  excess[later_end] -= taken;
}

DelayCosts::Pool DelayCosts::pool_of(std::uint32_t operation, std::uint32_t last_to_arrive,
                                     std::optional<std::uint32_t> since) const {
  const Collective& late = run_.collectives()[last_to_arrive];
  const RunTime from = since ? run_.collectives()[*since].finished : times_.beginning_of(last_to_arrive).time;
  const auto started = [this](std::uint32_t row) { return run_.collectives()[row].started; };
  const std::vector<std::uint32_t>& waits = times_.waits_of(late.rank);
  Pool pool{since, {}, {}, 0};
  for (auto at = std::ranges::lower_bound(waits, late.started, {}, started); at != waits.begin();) {
    const std::uint32_t row = *--at;
    if (started(row) + nanoseconds{matching_.parts[row].wait_ns} <= from) break;
    const std::uint32_t its_operation = earlier_.operation_of(row);
    if (its_operation == EarlierOperations::none || place_[its_operation] >= place_[operation] ||
        times_.of(row).exposed_ns == 0)
      continue;
    pool.rows.push_back(row);
    pool.weights.push_back(times_.of(row).exposed_ns);
  }
  return pool;
}

void DelayCosts::charge_wait(std::uint32_t row, std::uint32_t last_to_arrive, const Excess& excess, bool common,
                             Pool& pool) {
  Excess parts = excess;
  BlameRow& late = rows_[run_.place_of(run_.collectives()[last_to_arrive].rank)];
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
