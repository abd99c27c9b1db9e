#include "tables/rows.h"

#include <array>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {
namespace {

std::size_t one(TableSources&) { return 1; }
std::size_t strings(TableSources& sources) { return sources.run().strings().size(); }
std::size_t processes(TableSources& sources) { return sources.run().processes().size(); }
std::size_t devices(TableSources& sources) { return sources.run().devices().size(); }
std::size_t lanes(TableSources& sources) { return sources.run().lanes().size(); }
std::size_t span_kinds(TableSources&) { return span_kind_count; }
std::size_t spans(TableSources& sources) { return sources.run().spans().size(); }
std::size_t marks(TableSources& sources) { return sources.run().marks().size(); }
std::size_t links(TableSources& sources) { return sources.run().links().size(); }
std::size_t groups(TableSources& sources) { return sources.run().groups().size(); }
std::size_t collectives(TableSources& sources) { return sources.run().collectives().size(); }
std::size_t counters(TableSources& sources) { return sources.run().counters().size(); }
std::size_t operations(TableSources& sources) {
  const auto& section = sources.matching().section;
  return section ? section->operations.size() : 0;
}
std::size_t steps(TableSources& sources) {
  const auto& section = sources.steps().section;
  return section ? section->steps.size() : 0;
}
std::size_t rank_steps(TableSources& sources) {
  const auto& section = sources.steps().section;
  return section ? section->windows.size() : 0;
}

template <class T>
std::string why(const Section<T>& section) {
  return section ? std::string{} : section.error().why;
}

std::string no_operations(TableSources& sources) { return why(sources.matching().section); }
std::string no_steps(TableSources& sources) { return why(sources.steps().section); }
std::string no_ranks(TableSources& sources) { return why(sources.report().rank_rows); }
std::string no_rank_step_times(TableSources& sources) {
  const std::string no_rows = why(sources.report().rank_rows);
  return no_rows.empty() ? why(sources.report().steps) : no_rows;
}
std::string no_kernels(TableSources& sources) { return why(sources.report().kernels); }
std::string no_operators(TableSources& sources) { return why(sources.report().operators); }
std::string no_launches(TableSources& sources) { return why(sources.report().launches); }
std::string no_memory(TableSources& sources) { return why(sources.report().memory); }
std::string no_stragglers(TableSources& sources) { return why(sources.report().stragglers); }
std::string no_findings(TableSources& sources) { return why(sources.report().findings); }

void fill_missing(TableSources& sources, SourceRows, RowWriter& add) {
  for (const TableRows& rows : table_rows())
    if (const std::string reason = why_missing(rows, sources); !reason.empty())
      add(rows.name, std::string_view{reason});
}

constexpr std::array all_rows{
    TableRows{"run", one, fill_run},
    TableRows{"run_metadata", one, fill_run_metadata},
    TableRows{"strings", strings, fill_strings},
    TableRows{"processes", processes, fill_processes},
    TableRows{"process_metadata", processes, fill_process_metadata},
    TableRows{"devices", devices, fill_devices},
    TableRows{"device_properties", devices, fill_device_properties},
    TableRows{"lanes", lanes, fill_lanes},
    TableRows{"span_kinds", span_kinds, fill_span_kinds},
    TableRows{"spans", spans, fill_spans},
    TableRows{"span_attributes", spans, fill_span_attributes},
    TableRows{"marks", marks, fill_marks},
    TableRows{"mark_attributes", marks, fill_mark_attributes},
    TableRows{"links", links, fill_links},
    TableRows{"groups", groups, fill_groups},
    TableRows{"group_members", groups, fill_group_members},
    TableRows{"operations", operations, fill_operations, no_operations},
    TableRows{"collectives", collectives, fill_collectives},
    TableRows{"counters", counters, fill_counters},
    TableRows{"samples", counters, fill_samples},
    TableRows{"steps", steps, fill_steps, no_steps},
    TableRows{"rank_steps", rank_steps, fill_rank_steps, no_steps},
    TableRows{"ranks", one, fill_ranks, no_ranks},
    TableRows{"rank_step_times", one, fill_rank_step_times, no_rank_step_times},
    TableRows{"kernels", one, fill_kernels, no_kernels},
    TableRows{"operators", one, fill_operators, no_operators},
    TableRows{"launches", one, fill_launches, no_launches},
    TableRows{"memory", one, fill_memory, no_memory},
    TableRows{"stragglers", one, fill_stragglers, no_stragglers},
    TableRows{"findings", one, fill_findings, no_findings},
    TableRows{"missing", one, fill_missing},
    TableRows{"quality", one, fill_quality},
};

}  // namespace

std::span<const TableRows> table_rows() { return all_rows; }

std::string why_missing(const TableRows& rows, TableSources& sources) {
  return rows.why_missing == nullptr ? std::string{} : rows.why_missing(sources);
}

}  // namespace rankscope::analyzer
