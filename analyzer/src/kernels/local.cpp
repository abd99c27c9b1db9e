#include "kernels/local.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "math/interval_set.h"
#include "rankscope/core/model/run.h"
#include "steps/part_texts.h"

namespace rankscope::analyzer {
namespace {

using ClassSets = std::array<IntervalSet, activity_class_count>;

constexpr std::uint32_t not_here = 0xFFFFFFFF;  // a key that the part does not have yet

/// The entries of a part while activities are added in any order.
class EntryDraft {
 public:
  explicit EntryDraft(std::size_t keys) : latest_(keys, none) {}

  /// The row of a key and cell, in which an activity is meant.
  std::uint32_t row(std::uint32_t key, std::size_t cell, std::uint32_t activity) {
    std::uint32_t& latest = latest_[key];
    if (latest == none || entries_[latest].cell != cell) {
      const auto next = static_cast<std::uint32_t>(entries_.size());
      const auto [found, added] = rows_.try_emplace({key, static_cast<std::uint32_t>(cell)}, next);
      if (added) entries_.push_back({key, static_cast<std::uint32_t>(cell), activity, 0, 0});
      latest = found->second;
    }
    entries_[latest].first = std::min(entries_[latest].first, activity);
    return latest;
  }
  KernelsPart::Entry& at(std::uint32_t row) { return entries_[row]; }

  /// Entries by (key, cell) and the durations in their order. `row_of` names the entry in which each activity begins.
  void finish(std::span<const Activity> activities, std::span<const std::uint32_t> row_of, KernelsPart& part) const {
    std::vector<std::size_t> next(entries_.size());  // by row: where its next duration goes
    std::size_t durations = 0;
    for (const auto& [key, row] : rows_) {  // a map: by (key, cell)
      next[row] = durations;
      durations += entries_[row].begun;
      part.entries.push_back(entries_[row]);
    }
    part.durations.resize(durations);
    for (std::size_t i = 0; i < activities.size(); ++i)
      part.durations[next[row_of[i]]++] = activities[i].time.length().count();
    auto begin = part.durations.begin();
    for (const KernelsPart::Entry& entry : part.entries) {
      const auto end = begin + entry.begun;
      std::sort(begin, end);
      begin = end;
    }
  }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  std::vector<std::uint32_t> latest_;  // by key: the row that was asked for last
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> rows_;
  std::vector<KernelsPart::Entry> entries_;
};

ClassSets sets_of(std::span<const Activity> activities) {
  std::array<std::vector<TimeRange>, activity_class_count> ranges;
  for (const Activity& activity : activities) ranges[static_cast<std::size_t>(activity.kind)].push_back(activity.time);
  ClassSets sets;
  for (std::size_t kind = 0; kind < activity_class_count; ++kind)
    sets[kind] = IntervalSet::from(std::move(ranges[kind]));
  return sets;
}

TimeRange extent_of(std::span<const Activity> activities) {
  TimeRange extent = activities.front().time;
  for (const Activity& activity : activities) extent.end = std::max(extent.end, activity.time.end);
  return extent;
}

/// Charges each instant of `open` once, to the activity of a class that began first, as device_work() does inside the
/// counted windows: which activity it is does not depend on what is counted.
void charge_cells(std::span<const Activity> activities, ActivityClass kind, const IntervalSet& open,
                  const TimeCells& cells, auto add) {
  Inside inside{open};
  RunTime covered = RunTime::min();
  for (std::uint32_t i = 0; i < activities.size(); ++i) {
    const Activity& activity = activities[i];
    if (activity.kind != kind || activity.time.end <= covered) continue;
    const TimeRange own{std::max(activity.time.begin, covered), activity.time.end};
    for (std::size_t cell = cells.at(own.begin); cell < cells.count() && cells.range(cell).begin < own.end; ++cell)
      if (const std::int64_t ns = inside.length_ns(intersect(own, cells.range(cell))); ns > 0) add(i, cell, ns);
    covered = own.end;
  }
}

std::vector<std::array<std::int64_t, together_count>> together_in(const ClassSets& sets, const TimeCells& cells) {
  std::vector<std::array<std::int64_t, together_count>> sums(cells.bounded());
  Sweep sweep{sets};
  for (std::size_t cell = 1; cell <= cells.bounded(); ++cell)
    sweep.over(cells.range(cell), [&](std::int64_t ns, std::uint32_t bits) { sums[cell - 1][bits] += ns; });
  return sums;
}

}  // namespace

LocalKernels::LocalKernels(const Run& run) : run_(run), key_of_(run), numbers_(run.strings().size()) {}

std::vector<std::uint32_t> LocalKernels::keys_of(std::span<const Activity> activities, KernelsPart& part) {
  std::vector<std::uint32_t> keys;
  std::vector<std::size_t> numbers;  // by key of the part
  for (const Activity& activity : activities) {
    const std::size_t number = numbers_(key_of_.with_shape(activity));
    if (number >= key_in_part_.size()) key_in_part_.resize(number + 1, not_here);
    if (key_in_part_[number] == not_here) {
      key_in_part_[number] = static_cast<std::uint32_t>(numbers.size());
      numbers.push_back(number);
    }
    keys.push_back(key_in_part_[number]);
  }
  PartTexts texts{run_, part.texts};
  for (const std::size_t number : numbers) {
    const KernelKey& key = numbers_.keys()[number];
    const std::uint32_t name = texts(key.name);
    const std::uint32_t grid = texts(key.grid);
    part.keys.push_back({name, grid, texts(key.block), key.kind});
    key_in_part_[number] = not_here;
  }
  return keys;
}

KernelsPart LocalKernels::of(RankId rank, const TimeCells& cells) {
  KernelsPart part;
  const std::vector<Activity> activities = activities_of(run_, rank);
  const ClassSets sets = sets_of(activities);
  part.together = together_in(sets, cells);
  if (activities.empty()) return part;
  const std::vector<std::uint32_t> keys = keys_of(activities, part);
  EntryDraft draft{part.keys.size()};
  std::vector<std::uint32_t> row_of;
  for (std::uint32_t i = 0; i < activities.size(); ++i) {
    row_of.push_back(draft.row(keys[i], cells.at(activities[i].time.begin), i));
    ++draft.at(row_of.back()).begun;
  }
  IntervalSet open = IntervalSet::from({extent_of(activities)});
  for (std::size_t kind = 0; kind < activity_class_count; ++kind) {
    charge_cells(activities, static_cast<ActivityClass>(kind), open, cells,
                 [&](std::uint32_t i, std::size_t cell, std::int64_t ns) {
                   draft.at(draft.row(keys[i], cell, i)).exclusive_ns += ns;
                 });
    open = without(open, sets[kind]);
  }
  draft.finish(activities, row_of, part);
  return part;
}

}  // namespace rankscope::analyzer
