// Everything that can be lost or altered on the way into a Run, declared once with its severity and advice.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rankscope/core/id.h"
#include "rankscope/core/time.h"

namespace rankscope {

/// What a counter above 0 means for conclusions: events are missing, something may be wrong, or it is good to know.
enum class Severity : std::uint8_t { data_loss, error, info };
[[nodiscard]] std::string_view name_of(Severity severity);

/// Counters of a Run and of the analyses (metrics.md 18).
enum class Counter : std::uint8_t {
  events_dropped,
  segments_unreadable,
  segment_cut,
  chunks_corrupt,
  records_unknown,
  names_lost,
  names_shortened,
  spans_unclosed,
  ranks_missing,
  rank_unknown,
  rank_duplicate,
  pop_without_push,
  negative_duration,
  collectives_open,
  collectives_unmatched,
  desync,
  clock_violations,
  clock_low,
  manifest_unreadable,
  steps_partial,
  steps_uneven,
  warmup_excluded,
  no_comm_args,
  pace_overruns,
  processes_without_events,
  payloads_undecoded,
  disk_full,
  attributes_dropped,
  not_gathered,
  processes_not_recorded,
  processes_not_watched,
  chunks_missing,
  truncated_input,
  events_malformed,
  events_repaired,
  events_incomplete,
  events_unsupported,
  categories_unknown,
  times_unusable,
  time_rounded_us,
  base_time_differs,
  time_origin_unknown,
  kernels_without_launch,
  kernel_before_launch,
  correlation_reused,
  blocks_dropped,
  secrets_dropped,
  graphs_opaque,
  payloads_not_exported,
  source_warnings,
  collectives_alone,
  jobs_mixed,
  rank_contested,
  files_left_out,
  clock_split_host,
  activities_dropped,
  activities_unknown,
  sources_failed,
  comm_times_unknown,
  comm_events_dropped,
  pm_samples_dropped,
  pm_metrics_left_out,
  gpu_clocks_held,
  comm_not_announced,
  comm_announced_only,
  comm_groups_unknown,
  comm_without_groups,
  tails_lost,
  devices_not_read,
  header_damaged,
  manifest_damaged,
  source_lost_events,
  texts_hidden,
  processes_without_rank,
  recorder_threads_refused,
  calls_thinned,
  events_thinned,
  events_without_sums,
};
inline constexpr std::size_t counter_count = static_cast<std::size_t>(Counter::events_without_sums) + 1;

/// One row of the table of counters: its name in reports and files, and what a user can do about it.
struct CounterInfo {
  Counter counter;
  std::string_view name;
  Severity severity;
  std::string_view advice;
};
/// The table, in the order of the enumeration.
[[nodiscard]] const std::array<CounterInfo, counter_count>& counter_table();
[[nodiscard]] const CounterInfo& info_of(Counter counter);
/// True for what RunBuilder::build() counts by itself, so that who copies a run does not count it twice.
[[nodiscard]] bool is_counted_by_build(Counter counter);
[[nodiscard]] std::optional<Counter> counter_from(std::string_view name);

/// How much of a counter is due to one place, e.g. "vm-71-9.rseg (rank 3)".
struct QualityPlace {
  Counter counter{};
  std::uint64_t amount = 0;
  std::string where{};
  RankId rank{};                    ///< whose data; none: not known, or of the whole run
  std::optional<TimeRange> time{};  ///< all of it lies in here, in run time; none: not known
  bool operator==(const QualityPlace&) const = default;
};

/// How often each counter was hit.
class Quality {
 public:
  void add(Counter counter, std::uint64_t amount = 1) { values_[static_cast<std::size_t>(counter)] += amount; }
  [[nodiscard]] std::uint64_t of(Counter counter) const { return values_[static_cast<std::size_t>(counter)]; }
  bool operator==(const Quality&) const = default;

 private:
  std::array<std::uint64_t, counter_count> values_{};
};

}  // namespace rankscope
