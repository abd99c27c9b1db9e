#include "stragglers/by_collectives.h"

#include <algorithm>
#include <vector>

#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

// metrics.md 9.4.
constexpr double most_by_chance = 0.01;  // over the number of ranks
constexpr double nearly_all = 0.8;       // of the waiting must be for this rank
constexpr double nearly_all_of_two = 0.95;
constexpr std::size_t least_led_steps = 2;
constexpr std::size_t all_must_be_led = 5;  // with fewer steps
constexpr double least_of_usual = 0.25;     // the shortest of these waits against the median

bool rules_out_chance(std::int64_t hits, std::int64_t trials, std::size_t ranks) {
  const auto n = static_cast<double>(ranks);
  return binomial_tail(hits, trials, 1 / n) < most_by_chance / n;
}

/// The rank made the others wait longest in so many steps that chance does not explain it, by about the same time.
bool leads_steps(RankId rank, const Arrivals& arrivals, std::size_t ranks) {
  const std::vector<LongestWait>& steps = arrivals.longest_of_step;
  if (steps.size() < least_led_steps) return false;
  std::vector<std::int64_t> waits;
  for (const LongestWait& step : steps)
    if (step.late == rank) waits.push_back(step.wait_ns);
  const bool beyond_chance = steps.size() < all_must_be_led
                                 ? waits.size() == steps.size()
                                 : rules_out_chance(std::ssize(waits), std::ssize(steps), ranks);
  return beyond_chance &&
         static_cast<double>(std::ranges::min(waits)) >= least_of_usual * static_cast<double>(median(waits));
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

/// What the rank did while the others waited for it, if one part is half of it.
StragglerKind kind_while_awaited(const BlameRow& row) {
  const DelayPart part = row.largest_part();
  return 2 * row.of(part) < row.cost_ns() ? StragglerKind::mixed : kind_of(part);
}

}  // namespace

std::string CollectiveEvidence::text() const {
  return format(
      "{:.0f} % of all waiting was for it, {} per step and waiting rank; it was the last in {} of {} operations",
      share * 100, duration_text(lag_ns), units.last, units.of);
}

std::optional<CollectiveEvidence> evidence_against(const PeerClass& peers, std::size_t peer,
                                                   const CollectiveFacts& facts) {
  const RankId rank = peers.rows[peer]->rank;
  const bool few = facts.arrivals.by_operation && facts.blame != nullptr && facts.blame->total_ns > 0;
  if (!few || !leads_steps(rank, facts.arrivals, peers.size())) return std::nullopt;
  const auto row = std::ranges::find(facts.blame->rows, rank, &BlameRow::rank);
  if (row == facts.blame->rows.end()) return std::nullopt;
  CollectiveEvidence evidence{.units = {facts.arrivals.times_last(rank), facts.arrivals.trials},
                              .share = static_cast<double>(row->cost_ns()) / static_cast<double>(facts.blame->total_ns),
                              .kind = kind_while_awaited(*row)};
  const bool two_steps = facts.arrivals.longest_of_step.size() == 2;
  if (two_steps && !rules_out_chance(evidence.units.last, evidence.units.of, peers.size())) return std::nullopt;
  if (evidence.share < (two_steps ? nearly_all_of_two : nearly_all)) return std::nullopt;
  evidence.lag_ns = static_cast<std::int64_t>(static_cast<double>(wait_of_others(peers, peer)) * evidence.share);
  return evidence;
}

}  // namespace rankscope::analyzer
