#include "compare/key_series.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyses/asked_for.h"
#include "analyses/kernel_keys.h"
#include "analyses/range_walk.h"
#include "analyses/statistics.h"
#include "compare/step_slots.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

/// Times of one key as they come in.
struct Tally {
  std::vector<std::int64_t> per_step_ns;
  std::vector<std::int64_t> durations_ns;
};

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
    steps_ = counted_steps(*report.steps).size();
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
      if (!is_asked_for(options_, one) || run_.has_accelerator(one)) continue;
      rank = one;
      const auto process = run_.process_row_of(rank);
      for (const Lane& lane : run_.lanes())
        if (lane.process == process && lane.kind == LaneKind::thread) walk.over(lane, WindowTime{CountedWindows{}}, {});
    }
    const KeyKind shown = kind == RangeKind::operators ? KeyKind::op : KeyKind::annotation;
    for (auto& [key, tally] : tallies)
      if (!tally.durations_ns.empty() || !tally.per_step_ns.empty())
        take({shown, text(key.name), text(key.shapes)}, std::move(tally));
  }

  void groups(const CollectivesSection& section) {
    std::map<CompareKey, Tally> tallies;
    for (const Unit& unit : section.units) {
      const Collective& first = run_.collectives()[unit.members.front()];
      if (!counts(first.rank, first.started)) continue;
      const auto slot = slot_of(first.rank, first.started);
      const std::string group{run_.text(run_.groups()[unit.group.index()].name)};
      const std::string op{run_.text(unit.op)};
      const auto members = std::ranges::count_if(
          unit.members, [&](std::uint32_t row) { return is_asked_for(options_, run_.collectives()[row].rank); });
      const auto add = [&](KeyKind kind, std::int64_t of_all_ns) {
        Tally& tally = tallies[{kind, group, op}];
        happen(tally, of_all_ns / std::max<std::int64_t>(1, members));
        spend(tally, slot, of_all_ns);
      };
      if (unit.why_no_wait.empty()) add(KeyKind::wait, unit.wait_ns);
      if (unit.why_no_transfer.empty()) add(KeyKind::transfer, unit.transfer_ns * members);
    }
    for (auto& [key, tally] : tallies) take(key, std::move(tally));
  }

  std::vector<KeySeries> finish() && {
    std::vector<KeySeries> all;
    for (auto& [key, tally] : all_) {
      const auto count = static_cast<std::int64_t>(tally.durations_ns.size());
      all.push_back({key, std::move(tally.per_step_ns), count, median(tally.durations_ns)});
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
  void spend(Tally& tally, std::optional<std::size_t> slot, std::int64_t ns) const {
    if (!slot) return;
    if (tally.per_step_ns.empty()) tally.per_step_ns.resize(steps_);
    tally.per_step_ns[*slot] += ns;
  }

  [[nodiscard]] std::string text(StringId id) const { return id.is_set() ? std::string{run_.text(id)} : std::string{}; }
  [[nodiscard]] std::string shape_text(const KernelKey& key) const {
    if (!key.grid.is_set() && !key.block.is_set()) return {};
    return format("grid {}, block {}", text(key.grid), text(key.block));
  }

  /// Different ids may read alike.
  void take(CompareKey key, Tally tally) {
    Tally& known = all_[std::move(key)];
    if (known.per_step_ns.empty()) known.per_step_ns.resize(steps_);
    for (std::size_t step = 0; step < tally.per_step_ns.size(); ++step)
      known.per_step_ns[step] += tally.per_step_ns[step];
    known.durations_ns.insert(known.durations_ns.end(), tally.durations_ns.begin(), tally.durations_ns.end());
  }

  const Run& run_;
  const ReportOptions& options_;
  bool has_steps_;
  std::size_t steps_ = 0;
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
