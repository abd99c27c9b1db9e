#include "stragglers/kind.h"

#include <algorithm>

#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr double main_share = 0.5;        // metrics.md 9.7: one component must hold half of the excess
constexpr double alone_own_share = 0.10;  // 9.3, "present on it alone": at least this share of the peers' own time

std::string_view verb_of(Component component) {
  switch (component) {
    case Component::compute:
      return "computes";
    case Component::host:
      return "is kept idle by its host for";
    case Component::data:
      return "waits for data";
    case Component::memory:
      return "copies data for";
    case Component::network:
      return "delays its communication by";
  }
  return "spends";
}

std::int64_t median_part(const RankRow& row, Component component, std::span<const std::size_t> steps) {
  std::vector<std::int64_t> values;
  for (const std::size_t step : steps) values.push_back(part_of(row.per_step[step], component));
  return median(values);
}

void decide(Excess& excess) {
  std::int64_t positive = 0;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < component_count; ++i) {
    positive += std::max<std::int64_t>(0, excess.difference_ns(i));
    if (excess.difference_ns(i) > excess.difference_ns(largest)) largest = i;
  }
  const auto most = static_cast<double>(excess.difference_ns(largest));
  const bool clear = positive > 0 && most >= main_share * static_cast<double>(positive);
  excess.kind = clear ? kind_of(static_cast<Component>(largest)) : StragglerKind::mixed;
}

std::string excess_sentence(const Excess& excess, std::size_t component) {
  return format("{} {} per step, its peers {} (median of {})", verb_of(static_cast<Component>(component)),
                duration_text(excess.own_ns[component]), duration_text(excess.peers_ns[component]),
                counted(excess.peer_count, "rank"));
}

}  // namespace

std::int64_t part_of(const TimeSplit& split, Component component) {
  switch (component) {
    case Component::compute:
      return split.compute_ns;
    case Component::host:
      return split.idle_ns - split.idle_ns_of(IdleCause::data) - split.idle_for_others_ns + split.host_late_in_comm_ns;
    case Component::data:
      return split.idle_ns_of(IdleCause::data);
    case Component::memory:
      return split.memory_ns;
    case Component::network:
      return split.own_comm_delay_ns;
  }
  return 0;
}

StragglerKind kind_of(Component component) {
  switch (component) {
    case Component::compute:
      return StragglerKind::compute;
    case Component::host:
      return StragglerKind::host;
    case Component::data:
      return StragglerKind::data;
    case Component::memory:
      return StragglerKind::memory;
    case Component::network:
      return StragglerKind::network;
  }
  return StragglerKind::mixed;
}

Excess explain_excess(const PeerClass& peers, std::size_t peer, std::span<const std::size_t> steps,
                      std::int64_t excess_ns) {
  Excess excess;
  excess.peer_count = peers.size() - 1;
  excess.unexplained_ns = excess_ns;
  for (std::size_t i = 0; i < component_count; ++i) {
    std::vector<std::int64_t> parts;
    for (const RankRow* row : peers.rows) parts.push_back(median_part(*row, static_cast<Component>(i), steps));
    excess.own_ns[i] = parts[peer];
    excess.peers_ns[i] = median(without(parts, peer));
    excess.unexplained_ns -= excess.difference_ns(i);
  }
  decide(excess);
  return excess;
}

std::string describe_excess(RankId rank, const Excess& excess) {
  std::string text = format("rank {} ", rank.value);
  if (excess.kind != StragglerKind::mixed) {
    for (std::size_t i = 0; i < component_count; ++i) {
      if (kind_of(static_cast<Component>(i)) == excess.kind) text += excess_sentence(excess, i);
    }
  } else {
    std::string_view separator;
    for (std::size_t i = 0; i < component_count; ++i) {
      if (excess.difference_ns(i) <= 0) continue;
      text += std::string{separator} + excess_sentence(excess, i);
      separator = ", ";
    }
  }
  return text;
}

bool is_alone_with_it(const Excess& excess, std::int64_t peers_own_ns) {
  constexpr auto data = static_cast<std::size_t>(Component::data);
  return excess.kind == StragglerKind::data && excess.peers_ns[data] == 0 &&
         static_cast<double>(excess.own_ns[data]) >= alone_own_share * static_cast<double>(peers_own_ns);
}

}  // namespace rankscope::analyzer
