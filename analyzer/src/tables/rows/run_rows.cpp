// Rows about the run, its processes, lanes and groups.
#include <map>

#include "rankscope/core/printable.h"
#include "tables/rows.h"
#include "words/source_advice.h"

namespace rankscope::analyzer {

void fill_run(TableSources& sources, SourceRows, RowWriter& add) {
  const RunInfo& info = sources.run().info();
  const TimeRange extent = sources.run().extent();
  add(std::string_view{info.source}, info.world_size > 0 ? Whole{info.world_size} : std::nullopt,
      info.origin_unix_ns != 0 ? Whole{info.origin_unix_ns} : std::nullopt, std::string_view{info.clock.method},
      info.clock.method != "none" ? Whole{info.clock.error.count()} : std::nullopt, ns_of(extent.begin),
      ns_of(extent.end));
}

void fill_run_metadata(TableSources& sources, SourceRows, RowWriter& add) {
  std::map<std::string, std::string> all;  // keys that differ only in bytes that are no UTF-8 become one
  for (const auto& [key, value] : sources.run().info().metadata) {
    std::string text = valid_utf8(value);
    const auto [entry, added] = all.try_emplace(valid_utf8(key), text);
    if (!added) entry->second += "; " + text;
  }
  for (const auto& [key, value] : all) add(std::string_view{key}, std::string_view{value});
}

void fill_strings(TableSources& sources, SourceRows rows, RowWriter& add) {
  for (std::size_t row = rows.first; row < rows.end; ++row)
    add(row_number(row), sources.run().text(StringId{static_cast<std::uint32_t>(row)}));
}

void fill_processes(TableSources& sources, SourceRows rows, RowWriter& add) {
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Process& process = sources.run().processes()[row];
    if (!sources.filter().keeps(process.rank)) continue;
    add(row_number(row), number_of(process.rank), process.pid, process.host, process.program,
        recorded(process.local_rank), ns_of(process.recorded.begin), ns_of(process.recorded.end),
        name_of(process.ending), process.ending == Ending::exited ? Whole{process.exit_status} : std::nullopt);
  }
}

void fill_process_metadata(TableSources& sources, SourceRows rows, RowWriter& add) {
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Process& process = sources.run().processes()[row];
    if (!sources.filter().keeps(process.rank)) continue;
    for (const auto& [key, value] : process.metadata) add(row_number(row), key, value);
  }
}

void fill_devices(TableSources& sources, SourceRows rows, RowWriter& add) {
  const Run& run = sources.run();
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Device& device = run.devices()[row];
    if (!sources.filter().keeps(run.processes()[device.process].rank)) continue;
    add(row_number(row), std::int64_t{device.process}, std::int64_t{device.ordinal}, device.name, device.uuid);
  }
}

void fill_device_properties(TableSources& sources, SourceRows rows, RowWriter& add) {
  const Run& run = sources.run();
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Device& device = run.devices()[row];
    if (!sources.filter().keeps(run.processes()[device.process].rank)) continue;
    for (const auto& [key, value] : device.metadata) add(row_number(row), key, value);
  }
}

void fill_lanes(TableSources& sources, SourceRows rows, RowWriter& add) {
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Lane& lane = sources.run().lanes()[row];
    if (!sources.filter().keeps(lane.rank)) continue;
    add(row_number(row), std::int64_t{lane.process}, number_of(lane.rank), name_of(lane.kind), lane.name, lane.number,
        recorded(lane.device));
  }
}

void fill_span_kinds(TableSources&, SourceRows rows, RowWriter& add) {
  for (std::size_t kind = rows.first; kind < rows.end; ++kind)
    add(row_number(kind), name_of(static_cast<SpanKind>(kind)));
}

void fill_groups(TableSources& sources, SourceRows rows, RowWriter& add) {
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Group& group = sources.run().groups()[row];
    add(row_number(row), group.name, row_number(group.members.size()));
  }
}

void fill_group_members(TableSources& sources, SourceRows rows, RowWriter& add) {
  for (std::size_t row = rows.first; row < rows.end; ++row) {
    const Group& group = sources.run().groups()[row];
    for (std::size_t i = 0; i < group.members.size(); ++i)
      if (sources.filter().keeps(group.members[i]))
        add(row_number(row), row_number(i), std::int64_t{group.members[i].value});
  }
}

void fill_quality(TableSources& sources, SourceRows, RowWriter& add) {
  const Run& run = sources.run();
  for (const CounterInfo& info : counter_table()) {
    const auto value = static_cast<std::int64_t>(run.quality().of(info.counter));
    if (value > 0) add(info.name, value, name_of(info.severity), advice_for(info.counter, run.info().source));
  }
}

}  // namespace rankscope::analyzer
