// What fixing slow ranks saves, by replay (metrics.md 9.5).
#include "stragglers/gains.h"

#include <algorithm>
#include <map>
#include <optional>

#include "rules/severity.h"
#include "stragglers/parts.h"
#include "what_if/find.h"

namespace rankscope::analyzer {
namespace {

/// Why a replay does not say what the job gains if this rank is like its peers; empty if it does.
std::string why_no_gain(const Section<WhatIfSection>& replay, const Straggler& row) {
  if (std::string why = why_no_replay(replay); !why.empty()) return why;
  const auto found = std::ranges::find(replay->ranks, row.rank, &RankReplay::rank);
  if (found == replay->ranks.end())
    return "only the ranks with the largest excess of work over their peers were replayed";
  return found->why_unknown;
}

/// The mean saving in those replayed steps in which the row is slow; not set if none of these was replayed. In the
/// other steps, too, the replay may save something, which is no gain of these.
std::optional<std::int64_t> saved_while_slow(const WhatIfSection& replay, const RankReplay& rank,
                                             const Straggler& row) {
  std::int64_t sum = 0;
  std::int64_t steps = 0;
  for (std::size_t i = 0; i < rank.saved_ns.size(); ++i) {
    const std::int64_t index = replay.first_step + static_cast<std::int64_t>(i);
    if ((row.since_step && index < *row.since_step) || (row.until_step && index > *row.until_step)) continue;
    sum += rank.saved_ns[i];
    ++steps;
  }
  return steps > 0 ? std::optional{std::max<std::int64_t>(0, sum / steps)} : std::nullopt;
}

void set_gain(const WhatIfSection& replay, std::int64_t steps, Straggler& row) {
  const auto found = std::ranges::find(replay.ranks, row.rank, &RankReplay::rank);
  row.gain_ns_per_step = std::max<std::int64_t>(0, replay.replayed_ns - *found->without_rank_ns);
  row.gain_ns_while_slow = 0;
  if (row.slow_steps > 0)
    row.gain_ns_while_slow =
        saved_while_slow(replay, *found, row).value_or(row.gain_ns_per_step * steps / row.slow_steps);
}

/// Slow ranks of each class, by its number.
std::map<std::uint32_t, std::vector<RankId>> slow_by_class(const replay::Graph& graph, const replay::ItemPeers& peers,
                                                           const StragglersSection& section) {
  std::map<std::uint32_t, std::vector<RankId>> classes;
  for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank)
    if (std::ranges::find(section.rows, graph.ranks[rank], &Straggler::rank) != section.rows.end())
      classes[peers.class_of(rank)].push_back(graph.ranks[rank]);
  std::erase_if(classes, [](const auto& one) { return one.second.size() < 2; });
  return classes;
}

}  // namespace

void set_gains_together(const Section<WhatIfSection>& replay, const replay::Graph& graph,
                        const replay::ItemPeers& peers, StragglersSection& section) {
  if (!why_no_replay(replay).empty()) return;
  for (const auto& [number, ranks] : slow_by_class(graph, peers, section)) {
    const auto without = replay::replay_as_others(graph, peers, ranks);
    if (!without) continue;
    const GainTogether gain{ranks, std::max<std::int64_t>(0, replay->replayed_ns - *without)};
    for (Straggler& row : section.rows)
      if (std::ranges::find(ranks, row.rank) != ranks.end()) row.together = gain;
  }
}

void set_replayed_gains(const Section<WhatIfSection>& replay, const StepsSection& steps, StragglersSection& section) {
  const auto counted = static_cast<std::int64_t>(counted_steps(steps).size());
  for (Straggler& row : section.rows) {
    row.why_no_gain = why_no_gain(replay, row);
    if (row.why_no_gain.empty()) {
      set_gain(*replay, counted, row);
    } else {
      row.gain_ns_per_step = row.gain_ns_while_slow = 0;
    }
    const std::int64_t most = std::max(row.gain_ns_per_step, row.together ? row.together->ns_per_step : 0);
    const FindingSeverity of_gain = severity_of(steps.share_of_step(most), gain_limits);
    if (of_gain == FindingSeverity::info) row.severity = capped(row.severity, FindingSeverity::major);
  }
  sort_worst_first(section);
}

}  // namespace rankscope::analyzer
