#include "what_if/find.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <span>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/side_by_side.h"
#include "replay/stages.h"
#include "what_if/fix.h"

namespace rankscope::analyzer::replay {
namespace {

constexpr std::size_t most_exact_ranks = 256;  // metrics.md 12.6
constexpr std::size_t most_suspects = 6;       // of more ranks than these
constexpr std::size_t most_operations = 12;    // replayed one by one
constexpr double share_of_few = 0.03;          // metrics.md 12.8
constexpr double least_slowdown = 1.03;
constexpr double most_alone = 0.03;  // of a step: above it slowdowns are not known (12.5)

class WhatIf {
 public:
  WhatIf(const Graph& graph, const ItemPeers& peers)
      : graph_(graph),
        peers_(peers),
        measured_(as_measured(graph)),
        ideal_{ideal_lengths(graph, peers), Order::as_recorded},
        worst_(by_excess()),
        steps_(static_cast<std::int64_t>(graph.steps.size())) {}

  Section<WhatIfSection> section() {
    walls_ = step_walls(graph_, simulate(graph_, measured_));
    replayed_ = std::accumulate(walls_.begin(), walls_.end(), std::int64_t{0});
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
    section.without_host_delay_ns = std::min(section.replayed_ns, per_step(with_ideal({Work::host, Work::delay})));
    section.partners_unknown = partners_unknown(graph_);
    if (section.knows_partners()) add_without_work(section);
    add_classes(section);
    section.doubts = doubts_of(graph_);
    add_ranks(section);
    section.why_no_ideal = why_no_ideal(section);
    if (section.why_no_ideal.empty()) add_slowdowns(section);
    std::ranges::sort(section.ranks, {}, &RankReplay::rank);
    if (!section.why_no_ideal.empty())
      section.doubts.push_back(format("The cost of imbalance is not known: {}.", section.why_no_ideal));
    return section;
  }

 private:
  /// The ideal can take longer than what was recorded: members that keep their measured end (12.2) never end earlier
  /// but may end later, and steps may do different work. Work that one rank does alone keeps its length in it (12.4).
  [[nodiscard]] std::string why_no_ideal(const WhatIfSection& section) const {
    const auto most = std::ranges::max_element(section.ranks, {}, &RankReplay::alone_ns);
    const double share =
        most == section.ranks.end() ? 0 : static_cast<double>(most->alone_ns * steps_) / static_cast<double>(replayed_);
    if (share > most_alone)
      return format("rank {} does work that none of its peers does; this work takes {:.0f} % of a step",
                    most->rank.value, 100 * share);
    if (graph_.whole_recording && ideal_total_ == replayed_)
      return "without steps the work of one rank cannot be compared with that of another";
    return ideal_total_ > replayed_
               ? "with all ranks equally fast, the replayed steps would be longer than the recorded ones"
               : "";
  }

  void add_slowdowns(WhatIfSection& section) const {
    section.ideal_ns = ideal_total_ / steps_;
    section.slowdown = ratio(replayed_);
    const double mean_ideal = static_cast<double>(ideal_total_) / static_cast<double>(steps_);
    for (const std::int64_t wall : walls_) section.step_slowdowns.push_back(static_cast<double>(wall) / mean_ideal);
    if (!section.ranks.empty() && *section.slowdown >= least_slowdown) add_shares(section, few_worst(section));
    add_kinds(section);
    add_operations(section);
    add_hosts(section);
  }

  /// Who is compared with whom; stages do different work, which only a fix of its own evens out.
  void add_classes(WhatIfSection& section) const {
    std::map<std::uint32_t, std::size_t> sizes;
    for (std::uint32_t rank = 0; rank < graph_.ranks.size(); ++rank) ++sizes[peers_.class_of(rank)];
    section.any_peers = std::ranges::any_of(sizes, [](const auto& one) { return one.second > 1; });
    section.several_classes = sizes.size() > 1;
    if (stages_of(graph_).empty()) return;
    const std::array fixes{Fix{.kind = FixKind::stage, .text = "stage:last", .subject = "last", .factor = {}}};
    if (const auto fixed = apply_fixes(graph_, peers_, fixes)) section.even_last_stage_ns = per_step(fixed->scenario);
  }

  [[nodiscard]] double ratio(std::int64_t total) const {
    return static_cast<double>(total) / static_cast<double>(ideal_total_);
  }
  [[nodiscard]] std::int64_t per_step(const Scenario& scenario) const { return total_ns(graph_, scenario) / steps_; }

  /// Where members keep their measured end, more could be saved than the replay shows.
  void add_without_work(WhatIfSection& section) const {
    section.ideal_network_ns = per_step(with_zero({Work::transfer}));
    section.without_data_ns = per_step(with_zero({Work::data}));
    section.without_traffic_ns = per_step(with_zero({Work::memory, Work::transfer}));
  }

  [[nodiscard]] Scenario with_zero(std::initializer_list<Work> works) const {
    Scenario scenario = measured_;
    for (std::size_t i = 0; i < graph_.items.size(); ++i)
      if (std::ranges::find(works, graph_.items[i].work) != works.end()) scenario.item_ns[i] = 0;
    return scenario;
  }
  /// All as measured, but these as ideal.
  [[nodiscard]] Scenario with_ideal(std::initializer_list<Work> works) const {
    Scenario scenario = measured_;
    for (std::size_t i = 0; i < graph_.items.size(); ++i)
      if (std::ranges::find(works, graph_.items[i].work) != works.end()) scenario.item_ns[i] = ideal_.item_ns[i];
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

  [[nodiscard]] std::vector<std::uint32_t> by_excess() const {
    std::vector<std::int64_t> excess(graph_.ranks.size(), 0);
    for (std::size_t i = 0; i < graph_.items.size(); ++i)
      excess[graph_.items[i].rank] += measured_.item_ns[i] - ideal_.item_ns[i];
    std::vector<std::uint32_t> ranks(graph_.ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    std::ranges::stable_sort(ranks, std::ranges::greater{}, [&](std::uint32_t rank) { return excess[rank]; });
    return ranks;
  }

  [[nodiscard]] RankReplay replay_without(std::uint32_t rank) const {
    RankReplay row{graph_.ranks[rank]};
    row.slowdown = ratio(total_ns(graph_, ideal_but([&](const Item& item) { return item.rank == rank; })));
    std::vector<bool> chosen(graph_.ranks.size());
    chosen[rank] = true;
    Scenario scenario = measured_;
    const AsOthers found = set_as_others(graph_, peers_, chosen, scenario);
    row.why_unknown = partners_unknown(graph_) > WhatIfSection::most_partners_unknown
                          ? std::string{partners_are_unknown}
                          : why_not_as_others(graph_, found, chosen);
    if (row.why_unknown.empty()) add_without_rank(scenario, row);
    row.alone_ns = found.alone_ns / steps_;
    row.kept_ns = found.kept_ns / steps_;
    return row;
  }

  void add_without_rank(const Scenario& scenario, RankReplay& row) const {
    const std::vector<std::int64_t> walls = step_walls(graph_, simulate(graph_, scenario));
    row.without_rank_ns = std::accumulate(walls.begin(), walls.end(), std::int64_t{0}) / steps_;
    for (std::size_t step = 0; step < walls.size(); ++step) row.saved_ns.push_back(walls_[step] - walls[step]);
  }

  void add_ranks(WhatIfSection& section) const {
    if (graph_.ranks.size() < 2) return;
    const std::size_t replayed = worst_.size() > most_exact_ranks ? most_suspects : worst_.size();
    section.ranks.resize(replayed);
    side_by_side(replayed, [&](std::size_t i) { section.ranks[i] = replay_without(worst_[i]); });
    section.ranks_left_out = static_cast<std::int64_t>(worst_.size() - replayed);
  }

  /// The 3 % of ranks of largest slowdown; of many ranks that is by the excess of their work.
  [[nodiscard]] std::vector<bool> few_worst(WhatIfSection& section) const {
    section.few = static_cast<std::int64_t>(std::ceil(share_of_few * static_cast<double>(graph_.ranks.size())));
    std::vector<std::size_t> order(worst_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (section.ranks_left_out == 0)
      std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return section.ranks[i].slowdown; });
    std::vector<bool> few(graph_.ranks.size());
    for (std::int64_t i = 0; i < section.few; ++i) few[worst_[order[static_cast<std::size_t>(i)]]] = true;
    return few;
  }

  /// Of the loss: what goes away when these ranks become ideal.
  [[nodiscard]] double explained_by(const std::vector<bool>& ranks) const {
    Scenario scenario = measured_;
    for (std::size_t i = 0; i < graph_.items.size(); ++i)
      if (ranks[graph_.items[i].rank]) scenario.item_ns[i] = ideal_.item_ns[i];
    return share_of_loss(replayed_ - total_ns(graph_, scenario));
  }
  [[nodiscard]] double share_of_loss(std::int64_t ns) const {
    return static_cast<double>(ns) / static_cast<double>(replayed_ - ideal_total_);
  }

  /// metrics.md 12.8.
  void add_shares(WhatIfSection& section, const std::vector<bool>& few) const {
    section.few_ranks = explained_by(few);
    const Scenario only = ideal_but([&](const Item& item) { return few[item.rank]; });
    section.few_ranks_added = share_of_loss(total_ns(graph_, only) - ideal_total_);
    const std::vector<std::int64_t> stages = stages_of(graph_);
    if (stages.empty()) return;
    const auto [first, last] = std::ranges::minmax(stages);
    if (first == last) return;
    std::vector<bool> in_last;
    for (const std::int64_t stage : stages) in_last.push_back(stage == last);
    section.last_stage = explained_by(in_last);
  }

  /// What an item is for the user: the operation of a transfer, else the name of its span. Delays have none.
  [[nodiscard]] StringId operation_of(const Item& item) const {
    if (item.work == Work::delay || !item.span.is_set()) return {};
    const Span& span = graph_.run->span(item.span);
    if (span.collective == Span::no_collective) return span.name;
    return graph_.run->collectives()[span.collective].op;
  }

  /// Operations whose lengths differ most from the ideal, replayed one by one.
  void add_operations(WhatIfSection& section) const {
    std::map<StringId, std::int64_t> unevenness;
    std::vector<StringId> operation;
    for (std::size_t i = 0; i < graph_.items.size(); ++i) {
      operation.push_back(operation_of(graph_.items[i]));
      if (operation.back().is_set()) unevenness[operation.back()] += std::abs(measured_.item_ns[i] - ideal_.item_ns[i]);
    }
    std::vector<std::pair<std::int64_t, StringId>> most;
    for (const auto& [name, ns] : unevenness)
      if (ns > 0) most.emplace_back(ns, name);
    std::ranges::sort(most, {}, [this](const auto& one) {
      return std::pair{-one.first, graph_.run->text(one.second)};
    });
    most.resize(std::min(most.size(), graph_.ranks.size() > most_exact_ranks ? most_suspects : most_operations));
    section.operations.resize(most.size());
    side_by_side(most.size(), [&](std::size_t i) {
      const StringId name = most[i].second;
      const Scenario scenario = ideal_but(
          [&](const Item& item) { return operation[static_cast<std::size_t>(&item - graph_.items.data())] == name; });
      section.operations[i] = {std::string{graph_.run->text(name)}, ratio(total_ns(graph_, scenario))};
    });
    std::ranges::stable_sort(section.operations, std::ranges::greater{}, &NamedSlowdown::slowdown);
  }

  /// Of many ranks: the hosts of those whose work exceeds the ideal most.
  void keep_suspects(std::map<std::string_view, std::vector<bool>>& hosts) const {
    const std::span suspects{worst_.data(), std::min(worst_.size(), most_suspects)};
    std::erase_if(hosts, [&](const auto& host) {
      return std::ranges::none_of(suspects, [&](std::uint32_t rank) { return host.second[rank]; });
    });
  }

  void add_hosts(WhatIfSection& section) const {
    std::map<std::string_view, std::vector<bool>> hosts;
    for (std::size_t rank = 0; rank < graph_.ranks.size(); ++rank) {
      std::vector<bool>& own = hosts[graph_.run->text(graph_.run->process_of(graph_.ranks[rank]).host)];
      own.resize(graph_.ranks.size());
      own[rank] = true;
    }
    if (hosts.size() < 2 || hosts.size() > most_exact_ranks) return;
    if (graph_.ranks.size() > most_exact_ranks) keep_suspects(hosts);
    for (const auto& [name, own] : hosts) section.hosts.push_back({std::string{name}, 1});
    side_by_side(section.hosts.size(), [&](std::size_t i) {
      const std::vector<bool>& own = hosts.at(section.hosts[i].name);
      section.hosts[i].slowdown = ratio(total_ns(graph_, ideal_but([&](const Item& item) { return own[item.rank]; })));
    });
    std::ranges::stable_sort(section.hosts, std::ranges::greater{}, &NamedSlowdown::slowdown);
  }

  const Graph& graph_;
  const ItemPeers& peers_;
  Scenario measured_;
  Scenario ideal_;
  std::vector<std::uint32_t>
      worst_;  ///< rows of ranks by how much longer than ideal their own work is, the worst first
  std::int64_t steps_;
  std::vector<std::int64_t> walls_;  ///< of the steps as measured, replayed
  std::int64_t replayed_ = 0;
  std::int64_t ideal_total_ = 1;
};

}  // namespace

std::optional<std::int64_t> replay_as_others(const Graph& graph, const ItemPeers& peers,
                                             std::span<const RankId> ranks) {
  std::vector<bool> chosen(graph.ranks.size());
  for (std::size_t rank = 0; rank < chosen.size(); ++rank)
    chosen[rank] = std::ranges::find(ranks, graph.ranks[rank]) != ranks.end();
  Scenario scenario = as_measured(graph);
  const AsOthers found = set_as_others(graph, peers, chosen, scenario);
  if (!why_not_as_others(graph, found, chosen).empty()) return std::nullopt;
  return total_ns(graph, scenario) / static_cast<std::int64_t>(graph.steps.size());
}

double replay_error(std::int64_t replayed_ns, std::int64_t measured_ns) {
  if (measured_ns <= 0) return 1;
  return std::abs(static_cast<double>(replayed_ns - measured_ns)) / static_cast<double>(measured_ns);
}

std::string why_refused(double error) {
  if (error < refused_error) return {};
  return format(
      "the replayed time differs from the measured time by {:.0f} %, so predictions from the replay cannot be trusted",
      100 * error);
}

double partners_unknown(const Graph& graph) {
  const auto operations = std::ranges::count(graph.nodes, NodeKind::finish, &Node::kind);
  return operations > 0 ? static_cast<double>(graph.doubts.unsplit_members) / static_cast<double>(operations) : 0;
}

std::vector<std::string> doubts_of(const Graph& graph) {
  std::vector<std::string> doubts;
  const Doubts& known = graph.doubts;
  if (graph.whole_recording)
    doubts.emplace_back("No steps were recorded, so the whole recording is treated as one step.");
  if (known.absent_partners > 0)
    doubts.push_back(
        format("The partners of {} were not recorded. The measured ends of such operations are kept, so a change may "
               "save more than predicted.",
               counted(known.absent_partners, "operation")));
  if (const std::int64_t not_found = known.unsplit_members - known.absent_partners; not_found > 0)
    doubts.push_back(
        format("The partners of {} were not found. The measured ends of such operations are kept, so a change may save "
               "more than predicted.",
               counted(not_found, "operation")));
  if (known.has_streams)
    doubts.emplace_back(
        "Waits between streams are inferred from times: if a wait was missed, the predicted savings are too high.");
  if (known.late_causes > 0)
    doubts.push_back(format(
        "Left out: {} that the recorded times contradict, because the waiting work began before the other work ended.",
        counted(known.late_causes, "wait")));
  return doubts;
}

Section<WhatIfSection> what_if(const Graph& graph, const ItemPeers& peers) { return WhatIf(graph, peers).section(); }

}  // namespace rankscope::analyzer::replay
