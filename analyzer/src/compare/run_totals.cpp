// What a comparison needs of one run.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compare/losses.h"
#include "kernels/kernel_names.h"
#include "math/statistics.h"
#include "operators/range_walk.h"
#include "rankscope/analyzer/compare/compare.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "split/peers.h"
#include "steps/find.h"
#include "steps/parts.h"
#include "words/text_of.h"

namespace rankscope::analyzer {
namespace {

// Time per step of everything that has a name: kernels, copies, operators, annotations, operations of groups.

// Which counted step of a rank a time lies in.

class StepSlots {
 public:
  StepSlots(const StepsSection& steps, RankId rank);

  /// The place of a step among the counted ones of the run.
  [[nodiscard]] std::optional<std::size_t> at(RunTime time) const;
  /// Calls add(slot, ns) for each counted step that the stretch touches.
  template <class Add>
  void over(TimeRange stretch, Add add) const {
    for (std::size_t i = first_after(stretch.begin); i < windows_.size() && windows_[i].begin < stretch.end; ++i)
      add(slots_[i], intersect(windows_[i], stretch).length().count());
  }

 private:
  /// The first window that ends after a time.
  [[nodiscard]] std::size_t first_after(RunTime time) const;

  std::vector<TimeRange> windows_;  // of the counted steps, ascending
  std::vector<std::size_t> slots_;  // parallel
};

StepSlots::StepSlots(const StepsSection& steps, RankId rank) {
  const std::vector<std::int64_t> counted = counted_steps(steps);
  for (const StepWindow& window : windows_of(steps, rank)) {
    const auto slot = std::ranges::lower_bound(counted, window.index);
    if (slot == counted.end() || *slot != window.index) continue;
    windows_.push_back(window.window);
    slots_.push_back(static_cast<std::size_t>(slot - counted.begin()));
  }
}

std::size_t StepSlots::first_after(RunTime time) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(windows_, time, {}, &TimeRange::end) - windows_.begin());
}

std::optional<std::size_t> StepSlots::at(RunTime time) const {
  const std::size_t i = first_after(time);
  if (i == windows_.size() || !windows_[i].contains(time)) return std::nullopt;
  return slots_[i];
}

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

/// Over the ranks asked for, in the counted steps; kernels and copies of ranks with an accelerator, host time of ranks
/// without one, waits and transfers of matched operations. By key.
std::vector<KeySeries> key_series(const Run& run, const Report& report, const ReportOptions& options) {
  if (!why_nothing_counts(report.steps, options).empty()) return {};
  Collection collection{run, report, options};
  collection.kernels();
  collection.ranges(RangeKind::operators);
  collection.ranges(RangeKind::annotations);
  if (report.collectives) collection.groups(*report.collectives);
  return std::move(collection).finish();
}

std::vector<PeerRanks> peers_of(const Run& run, const Report& report) {
  std::vector<PeerRanks> classes;
  if (!report.steps || !report.rank_rows) return classes;
  for (const PeerClass& peers : peer_classes(run, *report.steps, *report.rank_rows)) {
    classes.push_back({peers.name, peers.caveat, peers.is_only, {}});
    for (const RankRow* row : peers.rows) classes.back().ranks.push_back(row->rank);
  }
  return classes;
}

}  // namespace

RunDigest digest(const Run& recorded, const ReportOptions& options, RunName name) {
  RunDigest result{std::move(name), analyze(recorded, options), {}, options.steps, {}, {}, {}, {}};
  const std::shared_ptr<const Run> moved = std::exchange(result.report.in_run_time, nullptr);
  const Run& run = moved ? *moved : recorded;
  for (const RankId rank : run.ranks())
    if (is_asked_for(options, rank)) result.ranks.push_back(rank);
  if (result.report.steps)
    for (const Step& step : result.report.steps->steps)
      if (result.report.steps->counted(step.index)) result.step_walls_ns.push_back(step.wall_ns);
  result.keys = key_series(run, result.report, options);
  result.peers = peers_of(run, result.report);
  result.lost = losses_of(run, result.report, options);
  if (result.report.collectives) result.report.collectives->operations = {};  // there are many, and they are summed
  return result;
}

}  // namespace rankscope::analyzer
