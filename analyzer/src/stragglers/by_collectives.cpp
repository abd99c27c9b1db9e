#include "stragglers/by_collectives.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "stragglers/parts.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

// metrics.md 9.4.
constexpr double most_by_chance = 0.01;  // over the number of ranks
constexpr double nearly_all = 0.8;       // of the waiting must be for this rank
constexpr double nearly_all_of_two = 0.95;
constexpr std::size_t least_led_steps = 2;
constexpr std::size_t all_must_be_led = 5;  // with fewer steps
constexpr double least_long_waits = 0.25;   // of the steps
constexpr double lasting_waits = 0.5;       // of the steps: below it they do not prove that the rank is always slow
constexpr std::int64_t least_lasting_waits = 3;
constexpr double least_of_longest = 0.5;  // the shortest of these waits

bool rules_out_chance(std::int64_t hits, std::int64_t trials, std::size_t ranks) {
  const auto n = static_cast<double>(ranks);
  return binomial_tail(hits, trials, 1 / n) < most_by_chance / n;
}

constexpr double least_scatter = 1;  // ns: runs written by hand have none at all

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double squares_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

/// How likely ranks that differ by chance only, in each step anew, let this one stand out by so much: Student's t of
/// its mean excess over the others, whose scatter and the unsteadiness of that excess are the measure. 1 for one step.
double chance_of_excess(const OwnTimes& times, std::size_t peer) {
  if (times.size() < 2 || times.front().size() < 2) return 1;
  const auto others = static_cast<double>(times.size() - 1);
  const std::size_t steps = times.front().size();
  std::vector<double> excess;
  double scatter = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<double> in_step;
    for (std::size_t i = 0; i < times.size(); ++i)
      if (i != peer) in_step.push_back(static_cast<double>(times[i][step]));
    excess.push_back(static_cast<double>(times[peer][step]) - mean_of(in_step));
    scatter += squares_of(in_step);
  }
  // A rank minus the mean of the others scatters more than a rank does.
  const double widened = 1 + 1 / others;
  const auto degrees = static_cast<std::int64_t>((times.size() - 2) * steps + steps - 1);
  const double variance = (scatter + squares_of(excess) / widened) / static_cast<double>(degrees);
  const double error = std::max(least_scatter, std::sqrt(variance * widened / static_cast<double>(steps)));
  const double mean = mean_of(excess);
  return mean > 0 ? student_tail(mean / error, degrees) : 1;
}

/// Of a handful of steps the rank made the others wait longest in each, by about the same time.
bool leads_all(RankId rank, std::span<const LongestWait> steps) {
  if (steps.size() < least_led_steps) return false;
  std::vector<std::int64_t> waits;
  for (const LongestWait& step : steps) waits.push_back(step.wait_ns);
  const bool alone = std::ranges::all_of(steps, [rank](const LongestWait& step) { return step.late == rank; });
  return alone && static_cast<double>(std::ranges::min(waits)) >=
                      least_of_longest * static_cast<double>(std::ranges::max(waits));
}

/// Of many steps, in nearly all of those with a wait of that length, and of these there are many.
struct LongWaits {
  std::int64_t all = 0;
  std::int64_t own = 0;  ///< for this rank
  std::size_t steps = 0;

  [[nodiscard]] bool lead(std::size_t ranks) const {
    const bool often = static_cast<double>(all) >= least_long_waits * static_cast<double>(steps);
    return often && static_cast<double>(own) >= nearly_all * static_cast<double>(all) &&
           rules_out_chance(own, all, ranks);
  }
  [[nodiscard]] bool last() const {
    return own >= least_lasting_waits && static_cast<double>(own) >= lasting_waits * static_cast<double>(steps);
  }
};

LongWaits long_waits_for(RankId rank, std::span<const LongestWait> steps, std::int64_t long_ns) {
  LongWaits waits{.steps = steps.size()};
  for (const LongestWait& step : steps) {
    if (step.wait_ns < long_ns) continue;
    ++waits.all;
    if (step.late == rank) ++waits.own;
  }
  return waits;
}

/// True if most waiting was in sends and receives. The stages of a pipeline fill one after another, so that ranks wait
/// even if all are equally fast.
bool is_pipeline(const BlameSection& blame) {
  std::int64_t in_pairs = 0;
  for (const BlameGroup& group : blame.groups)
    if (group.op == "sendrecv") in_pairs += group.ns;
  return 2 * in_pairs > blame.total_ns;
}

/// What a rank costs beyond what ranks cost each other anyway, in rank ns.
struct UnequalCost {
  std::int64_t own_ns = 0;
  std::int64_t all_ns = 0;  ///< of all ranks, and what is charged to none

  [[nodiscard]] double share() const {
    return all_ns > 0 ? static_cast<double>(own_ns) / static_cast<double>(all_ns) : 0;
  }
};

/// The median of what `cost_of` gives for the other ranks; 0 if there are none.
template <class CostOf>
std::int64_t usual_of_others(const BlameSection& blame, const BlameRow& row, CostOf cost_of) {
  std::vector<std::int64_t> others;
  for (const BlameRow& other : blame.rows)
    if (other.rank != row.rank) others.push_back(cost_of(other));
  return others.empty() ? 0 : median(others);
}

/// metrics.md 9.4: in a pipeline without the median of the other ranks' costs.
UnequalCost unequal_cost(const BlameSection& blame, const BlameRow& row) {
  if (!is_pipeline(blame)) return {row.cost_ns(), blame.total_ns};
  const std::int64_t usual = usual_of_others(blame, row, [](const BlameRow& any) { return any.cost_ns(); });
  UnequalCost cost{std::max<std::int64_t>(0, row.cost_ns() - usual), blame.unknown_ns};
  for (const BlameRow& any : blame.rows) cost.all_ns += std::max<std::int64_t>(0, any.cost_ns() - usual);
  return cost;
}

/// What one of the other ranks waited in a counted step, on average, and nothing hid.
std::int64_t wait_of_others(const PeerClass& peers, std::size_t peer) {
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (std::size_t other = 0; other < peers.size(); ++other) {
    if (other == peer) continue;
    for (const TimeSplit& split : peers.rows[other]->per_step) sum += split.exposed_wait_ns;
    count += std::ssize(peers.rows[other]->per_step);
  }
  return count > 0 ? sum / count : 0;
}

/// Of a cost in rank ns: what it is for one of the other ranks in a step.
std::int64_t per_step_and_rank(std::int64_t cost_ns, const BlameSection& blame) {
  const std::int64_t of_others = blame.rank_steps - blame.rank_steps / std::max<std::int64_t>(1, blame.ranks);
  return of_others > 0 ? cost_ns / of_others : 0;
}

StragglerKind kind_of(DelayPart part) {
  switch (part) {
    case DelayPart::compute:
      return StragglerKind::compute;
    case DelayPart::host:
      return StragglerKind::host;
    case DelayPart::data:
      return StragglerKind::data;
    case DelayPart::memory:
      return StragglerKind::memory;
    case DelayPart::network:
      return StragglerKind::network;
    case DelayPart::unmatched:
    case DelayPart::unexplained:
      break;
  }
  return StragglerKind::mixed;
}

/// What the rank did while the others waited for it, if one part is half of it. In a pipeline without what it is
/// usual that a rank does.
StragglerKind kind_while_last(const BlameSection& blame, const BlameRow& row) {
  const auto beyond_usual = [&blame, &row](DelayPart part) {
    const auto cost_in = [part](const BlameRow& any) { return any.of(part); };
    const std::int64_t usual = is_pipeline(blame) ? usual_of_others(blame, row, cost_in) : 0;
    return std::max<std::int64_t>(0, cost_in(row) - usual);
  };
  std::int64_t all = 0;
  std::pair<std::int64_t, DelayPart> largest{-1, DelayPart::unexplained};
  for (std::size_t i = 0; i < delay_part_count; ++i) {
    const auto part = static_cast<DelayPart>(i);
    const std::int64_t cost = beyond_usual(part);
    all += cost;
    if (cost > largest.first) largest = {cost, part};
  }
  return 2 * largest.first < all ? StragglerKind::mixed : kind_of(largest.second);
}

}  // namespace

std::string CollectiveEvidence::text() const {
  return format(
      "{:.0f} % of {} was for this rank, {} per step and waiting rank; {}", share * 100,
      in_pipeline ? "all waiting beyond what a rank usually causes" : "all waiting", duration_text(lag_ns),
      arrived_last_text("this rank", units.last, counted(units.of, of_steps ? "step" : "operation"), of_steps));
}

std::optional<CollectiveEvidence> evidence_against(const PeerClass& peers, std::size_t peer,
                                                   const CollectiveFacts& facts, std::int64_t long_ns) {
  const RankId rank = peers.rows[peer]->rank;
  const std::vector<LongestWait>& steps = facts.arrivals.longest_of_step;
  if (facts.blame == nullptr || facts.blame->total_ns <= 0) return std::nullopt;
  const bool few = steps.size() < all_must_be_led;
  const LongWaits waits = long_waits_for(rank, steps, long_ns);
  const bool in_pipeline = is_pipeline(*facts.blame);
  if (!(few ? in_pipeline || leads_all(rank, steps) : waits.lead(peers.size()))) return std::nullopt;
  if (few && chance_of_excess(own_times(peers), peer) >= most_by_chance / static_cast<double>(peers.size()))
    return std::nullopt;
  const auto row = std::ranges::find(facts.blame->rows, rank, &BlameRow::rank);
  if (row == facts.blame->rows.end()) return std::nullopt;
  const UnequalCost cost = unequal_cost(*facts.blame, *row);
  CollectiveEvidence evidence{.units = {facts.arrivals.times_last(rank), facts.arrivals.trials},
                              .share = cost.share(),
                              .kind = kind_while_last(*facts.blame, *row),
                              .of_steps = !facts.arrivals.by_operation,
                              .in_pipeline = in_pipeline,
                              .lasts = few || waits.last()};
  const bool two_steps = steps.size() == 2;
  if (two_steps && !rules_out_chance(evidence.units.last, evidence.units.of, peers.size())) return std::nullopt;
  if (evidence.share < (two_steps ? nearly_all_of_two : nearly_all)) return std::nullopt;
  evidence.lag_ns = in_pipeline
                        ? per_step_and_rank(cost.own_ns, *facts.blame)
                        : static_cast<std::int64_t>(static_cast<double>(wait_of_others(peers, peer)) * evidence.share);
  return evidence;
}

}  // namespace rankscope::analyzer
