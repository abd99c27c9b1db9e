// A rank with the work of its peers (metrics.md 12.7).
#include <algorithm>
#include <cmath>
#include <map>

#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "what_if/fix.h"
#include "words/units.h"

namespace rankscope::analyzer::replay {
namespace {

constexpr std::size_t least_peers = 2;     // of two ranks neither is the usual one
constexpr double least_different = 0.005;  // of the steps: different work below it does not hide what a change saves

/// What a rank does by itself: neither waiting for a start nor moving data together with others.
bool is_own_work(Work work) { return work != Work::delay && work != Work::transfer; }

struct StepLength {
  std::uint32_t rank = 0;
  std::uint32_t step = 0;
  std::int64_t ns = 0;
};

/// Own work of the ranks marked that no peer has, and of the peers that no rank marked has.
class WithoutCounterpart {
 public:
  WithoutCounterpart(const Graph& graph, const ItemPeers& peers, const std::vector<bool>& marked)
      : graph_(graph), peers_(peers), marked_(marked) {
    for (std::uint32_t rank = 0; rank < marked.size(); ++rank)
      if (marked[rank]) of_class_.try_emplace(peers.class_of(rank));
    for (std::uint32_t rank = 0; rank < marked.size(); ++rank)
      if (const auto known = of_class_.find(peers.class_of(rank)); known != of_class_.end())
        known->second.push_back(rank);
  }

  /// All items of a set; those of other classes have no counterpart by design.
  void add(std::span<const std::uint32_t> set) {
    if (of_class_.contains(peers_.class_of(graph_.items[set.front()].rank)))
      items_.insert(items_.end(), set.begin(), set.end());
  }

  /// What the ranks marked have takes as long as what their peers have.
  void level(Scenario& scenario, AsOthers& found) const {
    if (items_.empty()) return;
    std::vector<std::int64_t> sums(graph_.ranks.size() * graph_.steps.size());
    for (const std::uint32_t item : items_) sums[row_of(item)] += scenario.item_ns[item];
    std::vector<double> factors(sums.size(), 1);
    for (std::uint32_t rank = 0; rank < marked_.size(); ++rank)
      if (marked_[rank]) level_rank(rank, sums, factors, found);
    for (const std::uint32_t item : items_) {
      if (!is_marked(item)) continue;
      std::int64_t& ns = scenario.item_ns[item];
      ns = std::llround(static_cast<double>(ns) * factors[row_of(item)]);
    }
  }

 private:
  [[nodiscard]] bool is_marked(std::uint32_t item) const { return marked_[graph_.items[item].rank]; }
  [[nodiscard]] std::size_t row_of(std::uint32_t item) const {
    return graph_.items[item].rank * graph_.steps.size() + graph_.items[item].step;
  }

  void level_rank(std::uint32_t rank, std::span<const std::int64_t> sums, std::span<double> factors,
                  AsOthers& found) const {
    std::vector<std::int64_t> of_peers;
    std::int64_t beyond_in_all = 0;  // where steps do different work, more in one is less in another
    for (std::size_t step = 0; step < graph_.steps.size(); ++step) {
      of_peers.clear();
      for (const std::uint32_t peer : of_class_.at(peers_.class_of(rank)))
        if (!marked_[peer]) of_peers.push_back(sums[peer * graph_.steps.size() + step]);
      if (of_peers.empty()) return;
      const std::size_t row = rank * graph_.steps.size() + step;
      const std::int64_t beyond = sums[row] - median(of_peers);
      beyond_in_all += beyond;
      if (beyond > 0 && of_peers.size() >= least_peers)
        factors[row] = static_cast<double>(sums[row] - beyond) / static_cast<double>(sums[row]);
    }
    const bool only_one = of_peers.size() < least_peers;
    if (beyond_in_all < 0 && only_one) found.lacked_ns -= beyond_in_all;
    if (beyond_in_all <= 0) return;
    found.alone_ns += beyond_in_all;
    if (only_one) found.kept_ns += beyond_in_all;
  }

  const Graph& graph_;
  const ItemPeers& peers_;
  const std::vector<bool>& marked_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> of_class_;  // of the ranks marked
  std::vector<std::uint32_t> items_;
};

}  // namespace

AsOthers set_as_others(const Graph& graph, const ItemPeers& peers, const std::vector<bool>& ranks, Scenario& scenario) {
  std::vector<std::vector<std::int64_t>> others(graph.steps.size());  // lengths by step
  std::vector<std::int64_t> of_all_steps;
  std::vector<std::uint32_t> meant;
  std::vector<StepLength> members;
  WithoutCounterpart alone{graph, peers, ranks};
  double all = 0;
  double compared = 0;
  std::int64_t excess_ns = 0;
  for (std::size_t set = 0; set < peers.size(); ++set) {
    for (std::vector<std::int64_t>& lengths : others) lengths.clear();
    meant.clear();
    // Items of a set lie far apart: fetched in a loop of their own, they are not waited for one by one.
    members.clear();
    for (const std::uint32_t item : peers.set(set)) {
      const Item& member = graph.items[item];
      members.push_back({member.rank, member.step, scenario.item_ns[item]});
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (ranks[members[i].rank])
        meant.push_back(peers.set(set)[i]);
      else
        others[members[i].step].push_back(members[i].ns);
    }
    const bool any = meant.size() < members.size();
    const bool own = !members.empty() && is_own_work(graph.items[peers.set(set).front()].work);
    if (own && (meant.empty() || !any)) alone.add(peers.set(set));
    if (meant.empty()) continue;
    of_all_steps.clear();
    for (const std::uint32_t item : meant) {
      if (own) all += static_cast<double>(graph.items[item].ns);
      if (own && any) compared += static_cast<double>(graph.items[item].ns);
      if (!any) continue;
      std::vector<std::int64_t>& same = others[graph.items[item].step];
      if (same.empty() && of_all_steps.empty())
        for (const auto& lengths : others) of_all_steps.insert(of_all_steps.end(), lengths.begin(), lengths.end());
      const std::int64_t usual = median(same.empty() ? of_all_steps : same);
      if (graph.items[item].work != Work::transfer) excess_ns += scenario.item_ns[item] - usual;
      scenario.item_ns[item] = usual;
    }
  }
  AsOthers found{.compared = all > 0 ? compared / all : 0, .excess_ns = excess_ns};
  alone.level(scenario, found);
  return found;
}

std::string why_not_as_others(const Graph& graph, const AsOthers& found, const std::vector<bool>& ranks) {
  const bool one = std::ranges::count(ranks, true) == 1;
  const std::string_view whose = one ? "the rank's work" : "the ranks' work";
  if (found.compared < enough_compared)
    return format("less than half of {} has a counterpart on {} peers", whose, one ? "its" : "their");
  // Of two ranks with different work neither is the usual one. Whatever is longer decides what is seen.
  const auto least = static_cast<std::int64_t>(least_different * static_cast<double>(measured_ns(graph)));
  const std::int64_t shown = std::max(least, found.excess_ns);
  const auto steps = static_cast<std::int64_t>(graph.steps.size());
  const std::string_view per = graph.whole_recording ? "" : " per step";
  if (found.kept_ns > shown)
    return format("{} of {}{} has no counterpart on {} only peer", duration_text(found.kept_ns / steps), whose, per,
                  one ? "its" : "their");
  if (found.lacked_ns > shown)
    return format("the only peer does {} of work{} that {}", duration_text(found.lacked_ns / steps), per,
                  one ? "this rank does not do" : "these ranks do not do");
  return {};
}

}  // namespace rankscope::analyzer::replay
