#include "compare/key_series.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compare/step_slots.h"
#include "kernels/kernel_keys.h"
#include "math/statistics.h"
#include "operators/range_walk.h"
#include "rankscope/core/format.h"
#include "steps/asked_for.h"
#include "words/text_of.h"

namespace rankscope::analyzer {
namespace {

/// Times of one key as they come in.
struct Tally {
  std::vector<StepTime> per_step;  // in any order until sorted() puts it in one
  std::vector<std::int64_t> durations_ns;
};

/// By step, each once.
std::vector<StepTime> sorted(std::vector<StepTime> times) {
  std::ranges::stable_sort(times, {}, &StepTime::step);
  std::vector<StepTime> sums;
  for (const StepTime& time : times) {
    if (!sums.empty() && sums.back().step == time.step)
      sums.back().ns += time.ns;
    else
      sums.push_back(time);
  }
  sums.shrink_to_fit();
  return sums;
}

KeyKind kind_of(ActivityClass kind) {
  switch (kind) {
    case ActivityClass::compute:
      return KeyKind::kernel;
    case ActivityClass::comm:
      return KeyKind::comm_kernel;
    case ActivityClass::memory:
      return KeyKind::copy;
  }
  return KeyKind::kernel;
}

class Collection {
 public:
  Collection(const Run& run, const Report& report, const ReportOptions& options)
      : run_(run), options_(options), has_steps_(report.steps && !counted_steps(*report.steps).empty()) {
    if (!has_steps_) return;
    for (const RankId rank : run.ranks()) slots_.emplace(rank, StepSlots{*report.steps, rank});
  }

  void kernels() {
    const KernelKeys key_of{run_};
    std::map<KernelKey, Tally> tallies;
    for (const RankId rank : run_.ranks()) {
      if (!is_asked_for(options_, rank) || !run_.has_accelerator(rank)) continue;
      for (const Activity& activity : activities_of(run_, rank)) {
        if (!counts(rank, activity.time.begin)) continue;
        Tally& tally = tallies[key_of.with_shape(activity)];
        happen(tally, activity.time.length().count());
        spend(tally, slot_of(rank, activity.time.begin), activity.time.length().count());
      }
    }
    for (auto& [key, tally] : tallies) take({kind_of(key.kind), text(key.name), shape_text(key)}, std::move(tally));
  }

  void ranges(RangeKind kind) {
    std::map<RangeKey, Tally> tallies;
    RankId rank;
    RangeWalk walk{run_,
                   kind,
                   {.called =
                        [&](const RangeKey& key, TimeRange range) {
                          if (counts(rank, range.begin)) happen(tallies[key], range.length().count());
                        },
                    .spent =
                        [&](const RangeKey& key, TimeRange stretch) {
                          if (!has_steps_) return;
                          Tally& tally = tallies[key];
                          slots_.at(rank).over(stretch,
                                               [&](std::size_t slot, std::int64_t ns) { spend(tally, slot, ns); });
                        }}};
    for (const RankId one : run_.ranks()) {
      if (!is_asked_for(options_, one)) continue;
      rank = one;
      const auto process = run_.process_row_of(rank);
      for (const Lane& lane : run_.lanes())
        if (lane.process == process && lane.kind == LaneKind::thread) walk.over(lane, WindowTime{CountedWindows{}}, {});
    }
    const KeyKind shown = kind == RangeKind::operators ? KeyKind::op : KeyKind::annotation;
    for (auto& [key, tally] : tallies)
      if (!tally.durations_ns.empty() || !tally.per_step.empty())
        take({shown, text(key.name), text(key.shapes)}, std::move(tally));
  }

  void groups(const CollectivesSection& section) {
    std::map<CompareKey, Tally> tallies;
    for (const Operation& operation : section.operations) {
      const Collective& first = run_.collectives()[operation.members.front()];
      if (!counts(first.rank, first.started)) continue;
      const auto slot = slot_of(first.rank, first.started);
      const std::string group{run_.text(run_.groups()[operation.group.index()].name)};
      const std::string op{run_.text(operation.op)};
      const auto members = std::ranges::count_if(
          operation.members, [&](std::uint32_t row) { return is_asked_for(options_, run_.collectives()[row].rank); });
      const auto add = [&](KeyKind kind, std::int64_t of_all_ns) {
        Tally& tally = tallies[{kind, group, op}];
        happen(tally, of_all_ns / std::max<std::int64_t>(1, members));
        spend(tally, slot, of_all_ns);
      };
      if (operation.why_no_wait.empty()) add(KeyKind::wait, operation.wait_ns);
      if (operation.why_no_transfer.empty()) add(KeyKind::transfer, operation.transfer_ns * members);
    }
    while (!tallies.empty()) {
      auto node = tallies.extract(tallies.begin());
      take(std::move(node.key()), std::move(node.mapped()));
    }
  }

  std::vector<KeySeries> finish() && {
    std::vector<KeySeries> all;
    while (!all_.empty()) {
      auto node = all_.extract(all_.begin());
      const Tally& tally = node.mapped();
      all.push_back({std::move(node.key()), sorted(std::move(node.mapped().per_step)),
                     static_cast<std::int64_t>(tally.durations_ns.size()), median(tally.durations_ns)});
    }
    return all;
  }

 private:
  /// What begins outside of the counted steps does not count; without steps everything does.
  [[nodiscard]] bool counts(RankId rank, RunTime begin) const { return !has_steps_ || slots_.at(rank).at(begin); }
  [[nodiscard]] std::optional<std::size_t> slot_of(RankId rank, RunTime begin) const {
    return has_steps_ ? slots_.at(rank).at(begin) : std::nullopt;
  }
  static void happen(Tally& tally, std::int64_t ns) { tally.durations_ns.push_back(ns); }
  static void spend(Tally& tally, std::optional<std::size_t> slot, std::int64_t ns) {
    if (!slot) return;
    const auto step = static_cast<std::uint32_t>(*slot);
    if (!tally.per_step.empty() && tally.per_step.back().step == step)
      tally.per_step.back().ns += ns;
    else
      tally.per_step.push_back({step, ns});
  }

  [[nodiscard]] std::string text(StringId id) const { return text_of(run_, id); }
  [[nodiscard]] std::string shape_text(const KernelKey& key) const {
    if (!key.grid.is_set() && !key.block.is_set()) return {};
    return format("grid {}, block {}", text(key.grid), text(key.block));
  }

  /// Different ids may read alike.
  void take(CompareKey key, Tally tally) {
    const auto [at, added] = all_.try_emplace(std::move(key), std::move(tally));
    if (added) return;
    Tally& known = at->second;
    known.per_step.insert(known.per_step.end(), tally.per_step.begin(), tally.per_step.end());
    known.durations_ns.insert(known.durations_ns.end(), tally.durations_ns.begin(), tally.durations_ns.end());
  }

  const Run& run_;
  const ReportOptions& options_;
  bool has_steps_;
  std::map<RankId, StepSlots> slots_;
  std::map<CompareKey, Tally> all_;
};

}  // namespace

std::vector<KeySeries> key_series(const Run& run, const Report& report, const ReportOptions& options) {
  if (!why_nothing_counts(report.steps, options).empty()) return {};
  Collection collection{run, report, options};
  collection.kernels();
  collection.ranges(RangeKind::operators);
  collection.ranges(RangeKind::annotations);
  if (report.collectives) collection.groups(*report.collectives);
  return std::move(collection).finish();
}

}  // namespace rankscope::analyzer
