// HTA's idle time and queue length of each stream (metrics.md 19.6, 19.8).
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>

#include "hta/find.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

/// HTA's documentation says 30 ns; its times are µs.
constexpr std::int64_t kernel_wait_ns = 30'000;

std::int64_t& of(std::array<std::int64_t, hta_idle_cause_count>& causes, HtaIdleCause cause) {
  return causes[static_cast<std::size_t>(cause)];
}

/// One stream, row by row.
class IdleStream {
 public:
  void add(const HtaRow& row, const HtaRow* launch, TimeRange time) {
    for (std::int64_t copy = 0; copy < row.copies; ++copy) gap_before(row, launch);
    if (busy_until_) own_ns_ += std::max<std::int64_t>(0, (time.begin - *busy_until_).count());
    busy_until_ = std::max(busy_until_.value_or(time.end), time.end);
  }
  [[nodiscard]] HtaStreamIdle result(std::int64_t stream) const { return {stream, causes_, own_ns_}; }

 private:
  /// Counted from the end of the row before, even where an earlier one ends later.
  void gap_before(const HtaRow& row, const HtaRow* launch) {
    if (previous_end_) {
      const std::int64_t gap = row.begin_ns - *previous_end_;
      const bool host = launch != nullptr && launch->begin_ns > *previous_end_;
      of(causes_, host                   ? HtaIdleCause::host_wait
                  : gap < kernel_wait_ns ? HtaIdleCause::kernel_wait
                                         : HtaIdleCause::other) += gap;
    }
    previous_end_ = row.end_ns;
  }

  std::optional<std::int64_t> previous_end_;
  std::array<std::int64_t, hta_idle_cause_count> causes_{};
  std::optional<RunTime> busy_until_;
  std::int64_t own_ns_ = 0;
};

/// The length of a queue goes up or down, one by one.
struct Change {
  std::int64_t at_ns = 0;  ///< as HTA has it
  RunTime own_time;
  std::int64_t by = 0;
};

void add_changes(const Run& run, const HtaRows& rows, HtaNames& names, const HtaRow& work,
                 std::vector<Change>& changes) {
  bool enqueued = false;
  for (const HtaRow& call : rows.host_of(work.correlation)) {
    if (call.copies == 0 || !names.of(call.name).enqueue) continue;
    enqueued = true;
    changes.push_back({call.begin_ns, run.span(call.span).time.begin, work.copies});
  }
  if (enqueued) changes.push_back({work.begin_ns, run.span(work.span).time.begin, -work.copies});
}

/// Mean over time instead of over changes.
Ratio mean_over_time(std::vector<Change>& changes) {
  std::ranges::stable_sort(changes, {}, &Change::own_time);
  const std::int64_t all = (changes.back().own_time - changes.front().own_time).count();
  if (all == 0) return {std::nullopt, "all changes of the queue length happen at the same time"};
  double area = 0;
  std::int64_t length = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    length += changes[i].by;
    area += static_cast<double>(length) * static_cast<double>((changes[i + 1].own_time - changes[i].own_time).count());
  }
  return {area / static_cast<double>(all), {}};
}

HtaQueue queue_of(std::int64_t stream, std::vector<Change>& changes) {
  HtaQueue queue{.stream = stream, .own_mean = {}};
  std::ranges::stable_sort(changes, {}, &Change::at_ns);
  std::int64_t length = 0;
  double sum = 0;
  queue.max = std::numeric_limits<std::int64_t>::min();
  for (const Change& change : changes) {
    const std::int64_t first = change.by > 0 ? length + 1 : length - 1;
    length += change.by;
    const std::int64_t count = std::abs(change.by);
    queue.points += count;
    sum += static_cast<double>(count) * static_cast<double>(first + length) / 2;
    queue.max = std::max({queue.max, first, length});
  }
  queue.mean = sum / static_cast<double>(queue.points);
  queue.own_mean = mean_over_time(changes);
  return queue;
}

}  // namespace

std::vector<HtaStreamIdle> hta_idle(const Run& run, const HtaRows& rows) {
  std::map<std::int64_t, IdleStream> streams;
  for (const HtaRow& row : rows.device)
    if (row.copies > 0 && row.activity) streams[row.stream].add(row, rows.launch_of(row), run.span(row.span).time);
  std::vector<HtaStreamIdle> table;
  for (const auto& [number, stream] : streams) table.push_back(stream.result(number));
  return table;
}

std::vector<HtaQueue> hta_queues(const Run& run, const HtaRows& rows, HtaNames& names) {
  std::map<std::int64_t, std::vector<Change>> streams;
  for (const HtaRow& work : rows.device)
    if (work.copies > 0 && work.correlation >= 0) add_changes(run, rows, names, work, streams[work.stream]);
  std::vector<HtaQueue> table;
  for (auto& [number, changes] : streams)
    if (!changes.empty()) table.push_back(queue_of(number, changes));
  return table;
}

}  // namespace rankscope::analyzer
