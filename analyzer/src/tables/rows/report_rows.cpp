// Rows of sections of the report (docs/metrics.md defines the numbers).
#include <string>

#include "rankscope/analyzer/report.h"
#include "tables/rows.h"

namespace rankscope::analyzer {
namespace {

/// Null where there is none of it.
std::optional<std::string_view> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional{std::string_view{text}};
}
Whole unless_missing(std::int64_t value, const std::string& why) { return why.empty() ? Whole{value} : std::nullopt; }

void add_operators(const OperatorTable& table, std::string_view kind, RowWriter& add) {
  for (const OperatorRow& row : table.rows)
    add(kind, std::string_view{row.name}, row.times.calls, row.times.self_ns, row.times.total_ns, row.times.device_ns,
        row.times.device_total_ns, row.backward.calls, row.backward.total_ns, row.backward.device_total_ns);
}

}  // namespace

void fill_ranks(TableSources& sources, SourceRows, RowWriter& add) {
  for (const RankRow& row : *sources.report().rank_rows) {
    const TimeSplit& time = row.total;
    add(number_of(row.rank), std::string_view{row.host}, std::string_view{row.device}, time.window_ns, time.compute_ns,
        time.exposed_comm_ns, time.memory_ns, time.idle_ns, time.own_ns(), time.comm_ns, time.overlapped_comm_ns,
        time.wait_ns, time.transfer_ns, time.unsplit_ns, time.idle_ns_of(IdleCause::host),
        time.idle_ns_of(IdleCause::sync), time.idle_ns_of(IdleCause::data), time.idle_ns_of(IdleCause::kernel_gap),
        time.idle_ns_of(IdleCause::other), row.overlap_ratio.value, row.busy.value, row.peak_allocated_bytes,
        row.peak_reserved_bytes, row.cpu_percent);
  }
}

void fill_rank_step_times(TableSources& sources, SourceRows, RowWriter& add) {
  const Report& report = sources.report();
  const std::vector<std::int64_t> steps = counted_steps(*report.steps);
  for (const RankRow& row : *report.rank_rows)
    for (std::size_t i = 0; i < row.per_step.size() && i < steps.size(); ++i) {
      const TimeSplit& time = row.per_step[i];
      add(number_of(row.rank), steps[i], time.window_ns, time.compute_ns, time.exposed_comm_ns, time.memory_ns,
          time.idle_ns, time.own_ns(), time.wait_ns, time.transfer_ns, time.unsplit_ns);
    }
}

void fill_kernels(TableSources& sources, SourceRows, RowWriter& add) {
  const KernelsSection& section = *sources.report().kernels;
  for (const RankKernels& rank : section.ranks)
    for (const RankKernelRow& row : rank.names) {
      const KernelRow& kernel = section.names[row.name];
      add(number_of(rank.rank), std::string_view{kernel.name}, std::string_view{kernel.short_name},
          name_of(kernel.kind), row.times.count, row.times.sum_ns, row.times.exclusive_ns, row.times.min_ns,
          row.times.median_ns, row.times.p90_ns, row.times.max_ns);
    }
}

void fill_operators(TableSources& sources, SourceRows, RowWriter& add) {
  const OperatorsSection& section = *sources.report().operators;
  add_operators(section.operators, "operator", add);
  add_operators(section.annotations, "annotation", add);
}

void fill_launches(TableSources& sources, SourceRows, RowWriter& add) {
  for (const LaunchRow& row : sources.report().launches->rows) {
    const auto if_launched = [&](std::int64_t value) { return row.launches > 0 ? Whole{value} : std::nullopt; };
    add(number_of(row.rank), recorded(row.device), recorded(row.stream), row_number(row.launches),
        row_number(row.in_graphs), row_number(row.without_launch),
        row.has_calls() ? Whole{row.call.median_ns} : std::nullopt, if_launched(row.delay.median_ns),
        if_launched(row.delay.p90_ns), row_number(row.kernels), row_number(row.short_kernels), row.kernels_ns,
        row.short_ns, row.queue.mean, row.queue.most);
  }
}

void fill_memory(TableSources& sources, SourceRows, RowWriter& add) {
  for (const DeviceMemory& row : sources.report().memory->devices)
    add(number_of(row.rank), name_of(row.kind), recorded(row.device), unless_empty(row.name), row.allocated.bytes,
        row.allocated.time_ns, row.allocated.step, unless_empty(row.allocated.place.op), row.reserved.bytes,
        row.total_bytes, row.growth.bytes_per_step);
}

void fill_stragglers(TableSources& sources, SourceRows, RowWriter& add) {
  for (const Straggler& row : sources.report().stragglers->rows)
    add(number_of(row.rank), name_of(row.kind), name_of(row.persistence), name_of(row.certainty), name_of(row.severity),
        row.slowdown, row.lag_ns_per_step, unless_missing(row.gain_ns_per_step, row.why_no_gain),
        std::string_view{row.evidence});
}

void fill_findings(TableSources& sources, SourceRows, RowWriter& add) {
  for (const Finding& row : *sources.report().findings)
    add(std::string_view{row.id}, name_of(row.severity), row.rank ? number_of(*row.rank) : std::nullopt, row.step,
        std::string_view{row.title}, std::string_view{row.evidence}, std::string_view{row.advice},
        unless_missing(row.gain_ns_per_step, row.why_no_gain),
        row.certainty ? std::optional{name_of(*row.certainty)} : std::nullopt);
}

}  // namespace rankscope::analyzer
