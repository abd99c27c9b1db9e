#include "replay/what_if.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "rankscope/core/format.h"
#include "rankscope/core/side_by_side.h"
#include "replay/fix.h"

namespace rankscope::analyzer::replay {
namespace {

constexpr std::size_t most_exact_ranks = 256;  // metrics.md 12.6
constexpr std::size_t most_suspects = 6;       // of more ranks than these
constexpr double share_of_few = 0.03;          // metrics.md 12.8
constexpr double least_slowdown = 1.03;

class WhatIf {
 public:
  WhatIf(const Graph& graph, const ItemPeers& peers)
      : graph_(graph),
        peers_(peers),
        measured_(as_measured(graph)),
        ideal_{ideal_lengths(graph, peers), Order::as_recorded},
        steps_(static_cast<std::int64_t>(graph.steps.size())) {}

  Section<WhatIfSection> section() {
    const std::vector<std::int64_t> walls = step_walls(graph_, simulate(graph_, measured_));
    replayed_ = std::accumulate(walls.begin(), walls.end(), std::int64_t{0});
    const std::int64_t measured = measured_ns(graph_);
    const double error = replay_error(replayed_, measured);
    if (std::string why = why_refused(error); !why.empty()) return unavailable(std::move(why));
    ideal_total_ = std::max<std::int64_t>(1, total_ns(graph_, ideal_));
    WhatIfSection section;
    section.steps = steps_;
    section.first_step = graph_.steps.front().index;
    section.whole_recording = graph_.whole_recording;
    section.measured_ns = measured / steps_;
    section.replayed_ns = replayed_ / steps_;
    section.replay_error = error;
    section.ideal_ns = ideal_total_ / steps_;
    section.slowdown = ratio(replayed_);
    section.ideal_network_ns = per_step(with_zero(Work::transfer));
    section.without_host_delay_ns = per_step(with_ideal({Work::host, Work::delay}));
    const double mean_ideal = static_cast<double>(ideal_total_) / static_cast<double>(steps_);
    for (const std::int64_t wall : walls) section.step_slowdowns.push_back(static_cast<double>(wall) / mean_ideal);
    add_kinds(section);
    add_ranks(section);
    section.doubts = doubts_of(graph_);
    return section;
  }

 private:
  [[nodiscard]] double ratio(std::int64_t total) const {
    return static_cast<double>(total) / static_cast<double>(ideal_total_);
  }
  [[nodiscard]] std::int64_t per_step(const Scenario& scenario) const { return total_ns(graph_, scenario) / steps_; }

  [[nodiscard]] Scenario with_zero(Work work) const {
    Scenario scenario = measured_;
    for (std::size_t i = 0; i < graph_.items.size(); ++i)
      if (graph_.items[i].work == work) scenario.item_ns[i] = 0;
    return scenario;
  }
  /// All as measured, but these as ideal; never longer than they were.
  [[nodiscard]] Scenario with_ideal(std::initializer_list<Work> works) const {
    Scenario scenario = measured_;
    for (std::size_t i = 0; i < graph_.items.size(); ++i)
      if (std::ranges::find(works, graph_.items[i].work) != works.end())
        scenario.item_ns[i] = std::min(scenario.item_ns[i], ideal_.item_ns[i]);
    return scenario;
  }
  /// All as ideal, but what is meant as measured (T with "-X" of metrics.md 12).
  template <class IsMeant>
  [[nodiscard]] Scenario ideal_but(IsMeant is_meant) const {
    Scenario scenario = ideal_;
    for (std::size_t i = 0; i < graph_.items.size(); ++i)
      if (is_meant(graph_.items[i])) scenario.item_ns[i] = measured_.item_ns[i];
    return scenario;
  }

  void add_kinds(WhatIfSection& section) const {
    constexpr std::array works{Work::compute, Work::transfer, Work::memory, Work::data, Work::host};
    std::array<double, works.size()> slowdowns{};
    side_by_side(works.size(), [&](std::size_t i) {
      const auto is_meant = [&](const Item& item) {
        return item.work == works[i] || (works[i] == Work::host && item.work == Work::delay);
      };
      if (std::ranges::any_of(graph_.items, is_meant)) slowdowns[i] = ratio(total_ns(graph_, ideal_but(is_meant)));
    });
    for (std::size_t i = 0; i < works.size(); ++i)
      if (slowdowns[i] > 0) section.kinds.push_back({std::string{name_of(works[i])}, slowdowns[i]});
  }

  /// Ranks by how much longer than ideal their own work is, the worst first.
  [[nodiscard]] std::vector<std::uint32_t> suspects() const {
    std::vector<std::int64_t> excess(graph_.ranks.size(), 0);
    for (std::size_t i = 0; i < graph_.items.size(); ++i)
      excess[graph_.items[i].rank] += measured_.item_ns[i] - ideal_.item_ns[i];
    std::vector<std::uint32_t> ranks(graph_.ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    std::ranges::stable_sort(ranks, std::ranges::greater{}, [&](std::uint32_t rank) { return excess[rank]; });
    if (ranks.size() > most_exact_ranks) ranks.resize(most_suspects);
    return ranks;
  }

  [[nodiscard]] RankReplay replay_without(std::uint32_t rank) const {
    RankReplay row{graph_.ranks[rank]};
    row.slowdown = ratio(total_ns(graph_, ideal_but([&](const Item& item) { return item.rank == rank; })));
    std::vector<bool> chosen(graph_.ranks.size());
    chosen[rank] = true;
    Scenario scenario = measured_;
    set_as_others(graph_, peers_, chosen, scenario);
    row.without_rank_ns = per_step(scenario);
    return row;
  }

  void add_ranks(WhatIfSection& section) const {
    if (graph_.ranks.size() < 2) return;
    const std::vector<std::uint32_t> worst = suspects();
    section.ranks.resize(worst.size());
    side_by_side(worst.size(), [&](std::size_t i) { section.ranks[i] = replay_without(worst[i]); });
    section.ranks_left_out = static_cast<std::int64_t>(graph_.ranks.size() - worst.size());
    std::ranges::sort(section.ranks, {}, &RankReplay::rank);
    add_few(section);
  }

  /// M_W of metrics.md 12.8: the loss that goes away when the ranks of largest slowdown become ideal.
  void add_few(WhatIfSection& section) const {
    if (section.slowdown < least_slowdown) return;
    section.few = static_cast<std::int64_t>(std::ceil(share_of_few * static_cast<double>(graph_.ranks.size())));
    std::vector<RankReplay> worst = section.ranks;
    std::ranges::stable_sort(worst, std::ranges::greater{}, &RankReplay::slowdown);
    std::vector<bool> few(graph_.ranks.size());
    for (std::size_t i = 0; i < worst.size() && i < static_cast<std::size_t>(section.few); ++i)
      few[static_cast<std::size_t>(std::ranges::lower_bound(graph_.ranks, worst[i].rank) - graph_.ranks.begin())] =
          true;
    Scenario scenario = measured_;
    for (std::size_t i = 0; i < graph_.items.size(); ++i)
      if (few[graph_.items[i].rank]) scenario.item_ns[i] = ideal_.item_ns[i];
    section.few_ranks =
        static_cast<double>(replayed_ - total_ns(graph_, scenario)) / static_cast<double>(replayed_ - ideal_total_);
  }

  const Graph& graph_;
  const ItemPeers& peers_;
  Scenario measured_;
  Scenario ideal_;
  std::int64_t steps_;
  std::int64_t replayed_ = 0;
  std::int64_t ideal_total_ = 1;
};

}  // namespace

double replay_error(std::int64_t replayed_ns, std::int64_t measured_ns) {
  if (measured_ns <= 0) return 1;
  return std::abs(static_cast<double>(replayed_ns - measured_ns)) / static_cast<double>(measured_ns);
}

std::string why_refused(double error) {
  if (error < refused_error) return {};
  return format("replaying the recording misses its measured time by {:.0f} %, so what it predicts cannot be trusted",
                100 * error);
}

std::vector<std::string> doubts_of(const Graph& graph) {
  std::vector<std::string> doubts;
  const Doubts& known = graph.doubts;
  if (graph.whole_recording) doubts.emplace_back("No steps were recorded, so the whole recording is taken as one.");
  if (known.unsplit_members > 0)
    doubts.push_back(
        format("{} with partners that are not recorded: each keeps its measured end, so gains may be larger.",
               counted(known.unsplit_members, "operation")));
  if (known.has_streams)
    doubts.emplace_back(
        "Which stream waits for which is inferred from times: gains may be too high where a wait was not seen.");
  if (known.late_causes > 0)
    doubts.push_back(
        format("{} left out, since the cause ended after its effect had begun.", counted(known.late_causes, "wait")));
  return doubts;
}

Section<WhatIfSection> what_if(const Graph& graph, const ItemPeers& peers) { return WhatIf(graph, peers).section(); }

}  // namespace rankscope::analyzer::replay
