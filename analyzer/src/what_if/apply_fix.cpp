#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "replay/stages.h"
#include "what_if/find.h"
#include "what_if/fix.h"
#include "words/letters.h"
#include "words/units.h"

namespace rankscope::analyzer::replay {
namespace {

/// Names that a pattern means; each is looked at once.
class NamePattern {
 public:
  NamePattern(const Run& run, const std::string& pattern) {
    for (std::size_t i = 0; i < run.strings().size(); ++i) {
      const std::string name{run.text(StringId{static_cast<std::uint32_t>(i)})};
      matches_.push_back(fnmatch(pattern.c_str(), name.c_str(), 0) == 0);
    }
  }
  bool operator()(StringId name) const { return name.is_set() && matches_[name.index()]; }

 private:
  std::vector<bool> matches_;
};

/// Spans with a name that is meant, on host threads those inside of them, and what these launched.
template <class IsMeant>
std::vector<bool> spans_meant(const Run& run, const IsMeant& is_meant) {
  std::vector<bool> meant(run.spans().size(), false);
  struct Open {
    RunTime end;
    bool meant;
  };
  for (const Lane& lane : run.lanes()) {
    std::vector<Open> open;
    for (const Span& span : run.spans_of(lane)) {
      while (!open.empty() && open.back().end <= span.time.begin) open.pop_back();
      // Work of one stream may overlap, but none of it is a part of other work.
      const bool inside = lane.kind == LaneKind::thread && !open.empty() && open.back().meant;
      const bool own = inside || is_meant(span.name);
      meant[run.id_of(span).index()] = own;
      open.push_back({span.time.end, own});
    }
  }
  for (const Link& link : run.links())
    if (link.kind == LinkKind::launch && meant[link.from.index()]) meant[link.to.index()] = true;
  return meant;
}

/// As collectors/python/rankscope_stacks.py writes them: "prepare_batch train.py:6".
constexpr std::string_view lane_of_stacks = "python stacks";

/// The rank on which samples of Python code show a function of this name most often.
std::optional<RankId> most_sampled_on(const Run& run, const std::string& pattern) {
  std::map<RankId, std::size_t> samples;
  for (const Mark& mark : run.marks()) {
    if (!mark.lane.is_set() || run.text(run.lane(mark.lane).name) != lane_of_stacks) continue;
    const std::string place{run.text(mark.name)};
    const std::string function = place.substr(0, place.rfind(' '));
    if (fnmatch(pattern.c_str(), place.c_str(), 0) == 0 || fnmatch(pattern.c_str(), function.c_str(), 0) == 0)
      ++samples[run.lane(mark.lane).rank];
  }
  if (samples.empty()) return std::nullopt;
  return std::ranges::max_element(samples, {}, [](const auto& one) { return one.second; })->first;
}

/// "gc", "gc.collect", "Garbage collection", but not "gcd".
bool names_garbage_collection(std::string_view name) {
  std::string small;
  for (const char letter : name) small += lower(letter);
  if (small.find("garbage") != std::string::npos) return true;
  const auto is_letter = [&](std::size_t at) { return at < small.size() && small[at] >= 'a' && small[at] <= 'z'; };
  for (std::size_t at = small.find("gc"); at != std::string::npos; at = small.find("gc", at + 1))
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + 2)) return true;
  return false;
}

class Application {
 public:
  Application(const Graph& graph, const ItemPeers& peers) : graph_(graph), run_(*graph.run), peers_(peers) {
    fixed_.scenario = as_measured(graph);
  }

  Result<FixedScenario> all(std::span<const Fix> fixes) && {
    for (const Fix& fix : fixes) {
      before_ = fixed_.scenario.item_ns;
      RS_TRY_VOID(one(fix));
      FixEffect effect{fix.text, 0, 0};
      for (std::size_t i = 0; i < before_.size(); ++i) {
        const std::int64_t saved = before_[i] - fixed_.scenario.item_ns[i];
        if (saved != 0) ++effect.items;
        effect.saved_ns += saved;
      }
      fixed_.effects.push_back(effect);
    }
    return std::move(fixed_);
  }

 private:
  Result<void> one(const Fix& fix) {
    switch (fix.kind) {
      case FixKind::rank:
        return as_others(fix, [&](std::uint32_t rank) { return graph_.ranks[rank].value == fix.first; });
      case FixKind::host:
        return as_others(fix, [&](std::uint32_t rank) {
          return run_.text(run_.process_of(graph_.ranks[rank]).host) == fix.subject;
        });
      case FixKind::op:
        return by_name(fix, fix.factor);
      case FixKind::remove:
        return by_name(fix, 0);
      case FixKind::group:
        return group(fix);
      case FixKind::link:
        return link(fix);
      case FixKind::network:
        if (lacks_partners()) return cannot_tell(fix, transfer_unknown);
        return scale(fix, 0, [](const Item& item) { return item.work == Work::transfer; });
      case FixKind::launch:
        return launch(fix);
      case FixKind::hostcode:
        return scale(fix, fix.factor, [](const Item& item) { return item.work == Work::host; });
      case FixKind::data:
        return scale(fix, 0, [](const Item& item) { return item.work == Work::data; });
      case FixKind::gc:
        return garbage_collection(fix);
      case FixKind::stage:
        return last_stage(fix);
      case FixKind::balance:
        return balance(fix);
      case FixKind::overlap:
        fixed_.scenario.order = Order::overlapping;
        return {};
    }
    return {};
  }

  static tl::unexpected<Error> nothing(const Fix& fix, std::string_view what) {
    return fail(ErrorKind::usage, format("--fix {}: the recording has {}", fix.text, what));
  }
  /// Where the report says that a saving is unknown, a prediction would contradict it.
  static tl::unexpected<Error> cannot_tell(const Fix& fix, std::string_view why) {
    return fail(ErrorKind::not_computable, format("cannot tell what --fix {} would save: {}", fix.text, why));
  }
  /// Operations keep their measured end where their partners are not known: little would seem to be saved.
  [[nodiscard]] bool lacks_partners() const { return partners_unknown(graph_) > WhatIfSection::most_partners_unknown; }

  /// Times the factor, or without one as long as ideal.
  template <class IsMeant>
  Result<void> scale(const Fix& fix, std::optional<double> factor, const IsMeant& is_meant) {
    if (!factor && ideal_.empty()) ideal_ = ideal_lengths(graph_, peers_);
    bool any = false;
    for (std::size_t i = 0; i < graph_.items.size(); ++i) {
      if (!is_meant(graph_.items[i])) continue;
      any = true;
      std::int64_t& ns = fixed_.scenario.item_ns[i];
      ns = factor ? std::llround(static_cast<double>(ns) * *factor) : ideal_[i];
    }
    if (!any) return nothing(fix, "nothing that this fix would change");
    return {};
  }

  template <class IsMeant>
  Result<void> as_others(const Fix& fix, const IsMeant& is_meant) {
    std::vector<bool> ranks(graph_.ranks.size());
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) ranks[rank] = is_meant(rank);
    const auto meant = std::ranges::count(ranks, true);
    if (meant == 0) return fail(ErrorKind::usage, format("--fix {}: {}", fix.text, what_there_is(fix)));
    if (meant == std::ssize(ranks)) return cannot_tell(fix, "the recording has no other ranks to compare with");
    if (lacks_partners()) return cannot_tell(fix, partners_are_unknown);
    const AsOthers found = set_as_others(graph_, peers_, ranks, fixed_.scenario);
    if (const std::string why = why_not_as_others(graph_, found, ranks); !why.empty())
      return cannot_tell(fix, format("{}{}", why, found.compared < enough_compared ? advice_for_stages() : ""));
    return {};
  }

  /// Ranks of different stages have no counterparts.
  [[nodiscard]] std::string_view advice_for_stages() const {
    const std::vector<std::int64_t> stages = stages_of(graph_);
    if (stages.empty() || std::ranges::min(stages) == std::ranges::max(stages)) return "";
    return "; for uneven pipeline stages, --fix stage:last predicts the steps as if the last stage took the mean "
           "compute time of all stages";
  }

  /// "the recording has no rank 7; choose from ranks 0–3": the ranks or hosts that a fix can name.
  [[nodiscard]] std::string what_there_is(const Fix& fix) const {
    if (fix.kind == FixKind::rank) {
      const bool recorded = std::ranges::find(run_.ranks(), RankId{fix.first}) != run_.ranks().end();
      return format("{} rank {}; choose from {}",
                    recorded ? "some of the replayed steps are missing for" : "the recording has no", fix.first,
                    ranks_text(graph_.ranks));
    }
    std::set<std::string_view> hosts;
    for (const RankId rank : graph_.ranks) hosts.insert(run_.text(run_.process_of(rank).host));
    hosts.erase("");
    std::string names;
    for (const std::string_view host : hosts) names.append(names.empty() ? "" : ", ").append(host);
    if (names.empty()) return "the recording does not name the hosts of its ranks";
    return format("no rank of host {} has all of the replayed steps; choose from {}", fix.subject, names);
  }

  Result<void> by_name(const Fix& fix, std::optional<double> factor) {
    const std::vector<bool> meant = spans_meant(run_, NamePattern(run_, fix.subject));
    const auto is_meant = [&](const Item& item) {
      return item.work != Work::delay && item.span.is_set() && meant[item.span.index()];
    };
    if (std::ranges::none_of(graph_.items, is_meant))
      if (const auto rank = most_sampled_on(run_, fix.subject))
        return fail(
            ErrorKind::usage,
            format("--fix {}: this names a sampled Python function, which is not an operation; rank:{} predicts "
                   "the steps with rank {} as fast as its peers",
                   fix.text, rank->value, rank->value));
    return scale(fix, factor, is_meant);
  }

  Result<void> garbage_collection(const Fix& fix) {
    const std::vector<bool> meant =
        spans_meant(run_, [&](StringId name) { return names_garbage_collection(run_.text(name)); });
    return scale(fix, 0, [&](const Item& item) {
      return item.work != Work::delay && item.work != Work::transfer && item.span.is_set() && meant[item.span.index()];
    });
  }

  /// What passes before work and communication; a host that goes on late was held up by something else.
  Result<void> launch(const Fix& fix) {
    std::vector<bool> meant(graph_.items.size());
    for (const Node& node : graph_.nodes)
      if (node.delay_item != no_row && node.kind != NodeKind::resume) meant[node.delay_item] = true;
    return scale(fix, 0,
                 [&](const Item& item) { return meant[static_cast<std::size_t>(&item - graph_.items.data())]; });
  }

  [[nodiscard]] const Collective* collective_of(const Item& item) const {
    if (item.work != Work::transfer || !item.span.is_set()) return nullptr;
    const std::uint32_t row = run_.span(item.span).collective;
    return row == Span::no_collective ? nullptr : &run_.collectives()[row];
  }

  Result<void> group(const Fix& fix) {
    const NamePattern pattern{run_, fix.subject};
    return scale(fix, fix.factor, [&](const Item& item) {
      const Collective* collective = collective_of(item);
      return collective != nullptr && collective->group.is_set() &&
             pattern(run_.groups()[collective->group.index()].name);
    });
  }

  Result<void> link(const Fix& fix) {
    return scale(fix, fix.factor, [&](const Item& item) {
      const Collective* collective = collective_of(item);
      if (collective == nullptr) return false;
      const auto own = std::int64_t{collective->rank.value};
      const auto is_pair = [&](std::int64_t a, std::int64_t b) { return own == a && collective->peer == b; };
      const std::string_view op = run_.text(collective->op);
      if (op == "send" || op == "recv") return is_pair(fix.first, fix.second) || is_pair(fix.second, fix.first);
      if (!collective->group.is_set()) return false;
      const auto& members = run_.groups()[collective->group.index()].members;
      return std::ranges::find(members, RankId{fix.first}) != members.end() &&
             std::ranges::find(members, RankId{fix.second}) != members.end();
    });
  }

  Result<void> balance(const Fix& fix) {
    bool any = false;
    for (std::size_t set = 0; set < peers_.size(); ++set) {
      const auto members = peers_.set(set);
      if (members.empty() || graph_.items[members.front()].work != Work::compute) continue;
      std::map<std::uint32_t, std::pair<double, double>> steps;  // sum and count
      for (const std::uint32_t item : members) {
        auto& [sum, count] = steps[graph_.items[item].step];
        sum += static_cast<double>(fixed_.scenario.item_ns[item]);
        count += 1;
      }
      for (const std::uint32_t item : members) {
        const auto& [sum, count] = steps[graph_.items[item].step];
        fixed_.scenario.item_ns[item] = std::llround(sum / count);
        any = any || count > 1;
      }
    }
    if (!any) return nothing(fix, "no two ranks that compute the same in a step");
    return {};
  }

  Result<void> last_stage(const Fix& fix) {
    std::map<std::int64_t, std::pair<double, double>> stages;  // compute and ranks
    const std::vector<std::int64_t> stage_of = stages_of(graph_);
    if (stage_of.empty()) return nothing(fix, "no pipeline stages");
    for (const std::int64_t stage : stage_of) stages[stage].second += 1;
    for (const Item& item : graph_.items)
      if (item.work == Work::compute) stages[stage_of[item.rank]].first += static_cast<double>(item.ns);
    double mean = 0;
    for (const auto& [stage, sums] : stages) mean += sums.first / sums.second / static_cast<double>(stages.size());
    const auto& [compute, ranks] = stages.rbegin()->second;
    if (stages.size() < 2 || compute <= 0) return nothing(fix, "fewer than two stages that compute");
    const double factor = mean / (compute / ranks);
    const std::int64_t last = stages.rbegin()->first;
    return scale(fix, factor,
                 [&](const Item& item) { return item.work == Work::compute && stage_of[item.rank] == last; });
  }

  const Graph& graph_;
  const Run& run_;
  const ItemPeers& peers_;
  std::vector<std::int64_t> before_;
  std::vector<std::int64_t> ideal_;  // once it is needed
  FixedScenario fixed_;
};

}  // namespace

Result<FixedScenario> apply_fixes(const Graph& graph, const ItemPeers& peers, std::span<const Fix> fixes) {
  return Application(graph, peers).all(fixes);
}

}  // namespace rankscope::analyzer::replay
