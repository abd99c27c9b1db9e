#include "kernels/parts.h"

#include <algorithm>
#include <tuple>

#include "kernels/kernel_names.h"
#include "math/key_numbers.h"
#include "math/statistics.h"
#include "rankscope/core/model/run.h"
#include "split/device_record.h"
#include "split/device_work.h"
#include "steps/parts.h"
#include "words/text_of.h"

namespace rankscope::analyzer {
namespace {

struct Tally {
  std::int64_t exclusive_ns = 0;
  std::vector<std::int64_t> durations;

  void add(const Activity& activity) {
    exclusive_ns += activity.exclusive_ns;
    if (activity.counted) durations.push_back(activity.time.length().count());
  }
  void add(const Tally& other) {
    exclusive_ns += other.exclusive_ns;
    durations.insert(durations.end(), other.durations.begin(), other.durations.end());
  }
  [[nodiscard]] bool empty() const { return exclusive_ns == 0 && durations.empty(); }
};

/// By the number of the key.
class Tallies {
 public:
  Tally& at(std::size_t key) {
    if (key >= tallies_.size()) tallies_.resize(key + 1);
    return tallies_[key];
  }
  [[nodiscard]] std::span<Tally> all() { return tallies_; }

 private:
  std::vector<Tally> tallies_;
};

KernelTimes times_of(Tally& tally) {
  KernelTimes times;
  times.exclusive_ns = tally.exclusive_ns;
  auto& sorted = tally.durations;
  if (sorted.empty()) return times;
  std::ranges::sort(sorted);
  times.count = static_cast<std::int64_t>(sorted.size());
  for (const std::int64_t duration : sorted) times.sum_ns += duration;
  times.min_ns = sorted.front();
  times.max_ns = sorted.back();
  times.median_ns = sorted_median(sorted);
  times.p90_ns = sorted_quantile(sorted, 0.9);
  return times;
}

bool longer(const KernelTimes& a, const KernelTimes& b) {
  return std::tie(a.exclusive_ns, a.sum_ns) > std::tie(b.exclusive_ns, b.sum_ns);
}

/// The rows of all keys, the longest first, and where each key went.
struct Ordered {
  std::vector<KernelRow> rows;
  std::vector<std::size_t> row_of_key;
};

Ordered ordered(const Run& run, std::span<const KernelKey> keys, Tallies& tallies) {
  std::vector<std::pair<KernelRow, std::size_t>> rows;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const KernelKey& key = keys[i];
    const std::string_view name = run.text(key.name);
    const bool computes = key.kind == ActivityClass::compute;
    rows.push_back({{std::string{name}, short_kernel_name(name), text_of(run, key.grid), text_of(run, key.block),
                     key.kind, computes ? tensor_cores_of(name) : TensorCores::unknown, times_of(tallies.at(i))},
                    i});
  }
  std::ranges::sort(rows, [](const auto& one, const auto& other) {
    const KernelRow& a = one.first;
    const KernelRow& b = other.first;
    if (longer(a.times, b.times) || longer(b.times, a.times)) return longer(a.times, b.times);
    return std::tie(a.name, a.grid, a.block, a.kind) < std::tie(b.name, b.grid, b.block, b.kind);
  });
  Ordered result;
  result.row_of_key.resize(rows.size());
  for (auto& [row, key] : rows) {
    result.row_of_key[key] = result.rows.size();
    result.rows.push_back(std::move(row));
  }
  return result;
}

std::array<std::int64_t, together_count> together(const DeviceWork& work, const CountedWindows& windows) {
  std::array<std::int64_t, together_count> sums{};
  Sweep sweep{work.sets};
  for (const TimeRange& window : windows.ranges)
    sweep.over(window, [&](std::int64_t ns, std::uint32_t bits) { sums[bits] += ns; });
  return sums;
}

class Tabulation {
 public:
  explicit Tabulation(const Run& run) : run_(run), key_of_(run), names_(run), keys_(run) {}

  void add(RankId rank, const CountedWindows& windows) {
    const DeviceWork work = device_work(run_, rank, windows);
    any_ = any_ || !work.activities.empty();
    Tallies of_rank;
    RankKernels row;
    for (const Activity& activity : work.activities) {
      if (!activity.counted && activity.exclusive_ns == 0) continue;
      of_rank.at(names_(key_of_.without_shape(activity))).add(activity);
      all_keys_.at(keys_(key_of_.with_shape(activity))).add(activity);
      row.exclusive_ns += activity.exclusive_ns;
    }
    row.rank = rank;
    row.steps = windows.steps;
    for (const TimeRange& window : windows.ranges) row.window_ns += window.length().count();
    row.together = together(work, windows);
    take_names(of_rank, row);
    section_.window_ns += row.window_ns;
    section_.exclusive_ns += row.exclusive_ns;
    section_.rank_steps += row.steps;
    section_.ranks.push_back(std::move(row));
  }

  Section<KernelsSection> finish() && {
    if (section_.ranks.empty()) return no_device_work(run_);
    if (!any_) return unavailable("nothing that ran on an accelerator was recorded");
    Ordered names = ordered(run_, names_.keys(), all_names_);
    for (RankKernels& rank : section_.ranks)
      for (RankKernelRow& row : rank.names) row.name = names.row_of_key[row.name];
    section_.names = std::move(names.rows);
    section_.keys = ordered(run_, keys_.keys(), all_keys_).rows;
    for (const KernelRow& row : section_.names)
      if (row.kind == ActivityClass::compute)
        section_.tensor_cores_ns[static_cast<std::size_t>(row.tensor_cores)] += row.times.exclusive_ns;
    return std::move(section_);
  }

 private:
  /// Rows of one rank by key number, until finish() knows the rows of the section.
  void take_names(Tallies& of_rank, RankKernels& row) {
    for (std::size_t key = 0; key < of_rank.all().size(); ++key) {
      Tally& tally = of_rank.at(key);
      if (tally.empty()) continue;
      row.names.push_back({key, times_of(tally)});
      all_names_.at(key).add(tally);
    }
    std::ranges::stable_sort(row.names,
                             [](const RankKernelRow& a, const RankKernelRow& b) { return longer(a.times, b.times); });
  }

  const Run& run_;
  KernelKeys key_of_;
  KeyNumbers<KernelKey> names_;
  KeyNumbers<KernelKey> keys_;
  Tallies all_names_;
  Tallies all_keys_;
  KernelsSection section_;
  bool any_ = false;
};

template <class Row>
KernelRest sum_from(std::span<const Row> rows, std::size_t shown) {
  KernelRest rest;
  for (const Row& row : rows.subspan(std::min(shown, rows.size()))) {
    ++rest.keys;
    rest.count += row.times.count;
    rest.sum_ns += row.times.sum_ns;
    rest.exclusive_ns += row.times.exclusive_ns;
  }
  return rest;
}

}  // namespace

Section<KernelsSection> tabulate_kernels(const Run& run, const Section<StepsSection>& steps,
                                         const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  Tabulation tabulation{run};
  for (const RankId rank : ranks_to_sum(run, steps, options, Among::accelerators))
    tabulation.add(rank, counted_windows(run, rank, steps));
  return std::move(tabulation).finish();
}

KernelRest rest_of(std::span<const KernelRow> rows, std::size_t shown) { return sum_from(rows, shown); }
KernelRest rest_of(std::span<const RankKernelRow> rows, std::size_t shown) { return sum_from(rows, shown); }

}  // namespace rankscope::analyzer
