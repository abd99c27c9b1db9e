#include "overlap/parts.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/kernel_names.h"
#include "math/statistics.h"
#include "rankscope/analyzer/overlap/section.h"
#include "rankscope/core/model/run.h"
#include "split/device_work.h"
#include "split/layers.h"
#include "split/row_sums.h"
#include "steps/counted_windows.h"
#include "steps/parts.h"
#include "words/text_of.h"

namespace rankscope::analyzer {
namespace {

// Which kernels are slower while communication runs beside them (metrics.md 3.5).

/// Collects kernels of several ranks.
class Contention {
 public:
  explicit Contention(const Run& run) : run_(run), key_of_(run) {}

  void add(RankId rank, const CountedWindows& windows, const Layers& layers);
  /// Keys (name, grid, block) with at least 10 launches of each kind whose medians differ by 5 % or more, the costliest
  /// first.
  [[nodiscard]] std::vector<ContendedKernel> slower() const;
  [[nodiscard]] std::string why_none_compared() const;

 private:
  struct Durations {
    std::vector<std::int64_t> beside;
    std::vector<std::int64_t> alone;
    [[nodiscard]] bool enough() const;
  };
  const Run& run_;
  KernelKeys key_of_;
  std::map<KernelKey, Durations> by_key_;
};

constexpr std::size_t least_launches = 10;  // of each kind
constexpr double beside_share = 0.9;
constexpr double alone_share = 0.1;
constexpr double least_slowdown_shown = 1.05;

bool Contention::Durations::enough() const { return beside.size() >= least_launches && alone.size() >= least_launches; }

void Contention::add(RankId rank, const CountedWindows& windows, const Layers& layers) {
  const IntervalSet communicating = union_of(layers, communication_layers);
  const IntervalSet open = IntervalSet::from(windows.ranges);
  Inside counted{open};
  Inside beside{communicating};
  for (const Activity& activity : activities_of(run_, rank)) {
    const std::int64_t duration = activity.time.length().count();
    if (activity.kind != ActivityClass::compute || duration <= 0) continue;
    if (windows.steps > 0 && !counted.contains(activity.time.begin)) continue;
    const double share = static_cast<double>(beside.length_ns(activity.time)) / static_cast<double>(duration);
    Durations& durations = by_key_[key_of_.with_shape(activity)];
    if (share >= beside_share) durations.beside.push_back(duration);
    if (share <= alone_share) durations.alone.push_back(duration);
  }
}

std::vector<ContendedKernel> Contention::slower() const {
  std::vector<ContendedKernel> kernels;
  for (const auto& [key, durations] : by_key_) {
    if (!durations.enough()) continue;
    const std::string_view text = run_.text(key.name);
    const ContendedKernel kernel{std::string{text},
                                 short_kernel_name(text),
                                 text_of(run_, key.grid),
                                 text_of(run_, key.block),
                                 static_cast<std::int64_t>(durations.beside.size()),
                                 static_cast<std::int64_t>(durations.alone.size()),
                                 median(durations.beside),
                                 median(durations.alone)};
    if (kernel.ratio() >= least_slowdown_shown) kernels.push_back(kernel);
  }
  std::ranges::stable_sort(
      kernels, [](const ContendedKernel& a, const ContendedKernel& b) { return a.cost_ns() > b.cost_ns(); });
  return kernels;
}

std::string Contention::why_none_compared() const {
  if (by_key_.empty()) return "no kernels were recorded during communication";
  const bool any = std::ranges::any_of(by_key_, [](const auto& entry) { return entry.second.enough(); });
  return any ? "" : "no kernel has at least 10 launches during communication and 10 without communication";
}

struct OperationKey {
  GroupId group;
  StringId op;
  auto operator<=>(const OperationKey&) const = default;
};

struct OperationTimes {
  std::int64_t count = 0;
  std::int64_t comm_ns = 0;
  std::int64_t overlapped_ns = 0;
  OperationTimes& operator+=(const OperationTimes& more) {
    count += more.count;
    comm_ns += more.comm_ns;
    overlapped_ns += more.overlapped_ns;
    return *this;
  }
};
using OperationSums = std::map<OperationKey, OperationTimes>;

OperationKey key_of(const Run& run, const Span& span) {
  if (span.collective == Span::no_collective) return {{}, span.name};
  const Collective& collective = run.collectives()[span.collective];
  return {collective.group, collective.op};
}

/// What one rank adds to the table: each instant is charged once. What the host waits outside of any operation is
/// `waits`.
OperationSums charged(const Run& run, RankId rank, const CountedWindows& windows, const Layers& layers,
                      const OperationKey& waits) {
  OperationSums table;
  const IntervalSet open = IntervalSet::from(windows.ranges);
  const IntervalSet computing = both(open, layers[static_cast<std::size_t>(Layer::compute)]);
  Inside inside{open};
  Inside counted{open};
  Inside hidden{computing};
  std::vector<TimeRange> all;
  RunTime covered = RunTime::min();
  for (const Span* span : communication_of(run, rank)) {
    const TimeRange time = span->time;
    OperationTimes& sums = table[key_of(run, *span)];
    if (windows.steps == 0 || counted.contains(time.begin)) ++sums.count;
    all.push_back(time);
    if (time.end <= covered) continue;
    const TimeRange own{std::max(time.begin, covered), time.end};
    covered = own.end;
    sums.comm_ns += inside.length_ns(own);
    sums.overlapped_ns += hidden.length_ns(own);
  }
  const IntervalSet rest =
      without(both(open, layers[static_cast<std::size_t>(Layer::host_wait)]), IntervalSet::from(std::move(all)));
  if (rest.empty()) return table;
  table[waits].comm_ns += rest.length_ns();
  table[waits].overlapped_ns += both(rest, computing).length_ns();
  return table;
}

std::vector<OverlapRow> rows_of(const Run& run, const OperationSums& table, const OperationKey& waits) {
  std::vector<OverlapRow> rows;
  for (const auto& [key, sums] : table) {
    if (sums.count == 0 && sums.comm_ns == 0) continue;
    OverlapRow row;
    row.op = key == waits ? std::string{host_waits} : text_of(run, key.op);
    if (key.group.is_set()) row.group = text_of(run, run.groups()[key.group.index()].name);
    row.count = sums.count;
    row.comm_ns = sums.comm_ns;
    row.overlapped_ns = sums.overlapped_ns;
    rows.push_back(std::move(row));
  }
  std::ranges::sort(rows, [](const OverlapRow& a, const OverlapRow& b) {
    if (a.exposed_ns() != b.exposed_ns()) return a.exposed_ns() > b.exposed_ns();
    return std::tie(a.group, a.op) < std::tie(b.group, b.op);
  });
  return rows;
}

RankOverlap overlap_of(const RankRow& row) {
  const TimeSplit& total = row.total;
  RankOverlap overlap{row.rank, row.overlap_ratio, {}, {}};
  if (total.transfer_ns > 0)
    overlap.transfer_overlap.value =
        static_cast<double>(total.transfer_ns - total.exposed_transfer_ns) / static_cast<double>(total.transfer_ns);
  else
    overlap.transfer_overlap.why =
        total.comm_ns == 0 ? "no communication" : "waiting and transfer could not be separated";
  if (total.transfer_ns > 0 || total.comm_ns == 0)
    overlap.headroom_ns = std::min(total.exposed_transfer_ns, total.compute_ns - total.overlapped_comm_ns);
  return overlap;
}

void add_steps(const RankRow& row, std::span<const std::int64_t> indices, std::vector<StepOverlap>& steps) {
  for (std::size_t i = 0; i < row.per_step.size(); ++i) {
    if (steps.size() == i) steps.push_back({indices[i]});
    steps[i].comm_ns += row.per_step[i].comm_ns;
    steps[i].overlapped_ns += row.per_step[i].overlapped_comm_ns;
  }
}

}  // namespace

Section<OverlapSection> find_overlap(const Run& run, const Section<StepsSection>& steps,
                                     const Section<std::vector<RankRow>>& rows, const Matching& matching,
                                     const ReportOptions& options) {
  if (!rows) return unavailable(rows.error().why);
  const std::vector<std::int64_t> indices = steps ? counted_steps(*steps) : std::vector<std::int64_t>{};
  const OperationKey waits{};
  OverlapSection section;
  OperationSums table;
  Contention contention{run};
  for (const RankRow* of_rank : asked_rows_to_sum(*rows, options)) {
    const RankRow& row = *of_rank;
    const CountedWindows windows = counted_windows(run, row.rank, steps);
    if (row.total.comm_ns > 0) {
      const Layers layers = busy_layers(run, row.rank, matching);
      for (const auto& [key, sums] : charged(run, row.rank, windows, layers, waits)) table[key] += sums;
      if (run.has_accelerator(row.rank)) contention.add(row.rank, windows, layers);
    }
    section.ranks.push_back(overlap_of(row));
    add_steps(row, indices, section.steps);
    section.rank_steps += windows.steps;
  }
  section.rows = rows_of(run, table, waits);
  if (section.rows.empty()) return unavailable("no communication was recorded");
  section.contended = contention.slower();
  section.why_no_contention = contention.why_none_compared();
  return section;
}

}  // namespace rankscope::analyzer
