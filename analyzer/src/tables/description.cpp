// docs/sqlite.md explains these tables. A column that changes its meaning or goes raises `user_version` of the SQLite
// export; a new one does not.
#include "rankscope/analyzer/tables/description.h"

#include <algorithm>
#include <array>

namespace rankscope::analyzer {
namespace described {
namespace {

// Short names, which no other file of a large unit shall see.
using enum ColumnType;

constexpr ColumnDescription key(std::string_view name) { return {.name = name, .type = whole, .is_key = true}; }
constexpr ColumnDescription value(std::string_view name, ColumnType type) { return {.name = name, .type = type}; }
constexpr ColumnDescription maybe(std::string_view name, ColumnType type) {
  return {.name = name, .type = type, .nulls = Nulls::possible};
}
/// What SQLite finds in a table that the row names by its id.
constexpr ColumnDescription joined(std::string_view name, ColumnType type, Nulls nulls = Nulls::possible) {
  return {.name = name, .type = type, .nulls = nulls, .place = ColumnPlace::arrow};
}

constexpr std::array run_columns{
    value("source", word),       maybe("world_size", whole),     maybe("origin_unix_ns", whole),
    value("clock_method", text), maybe("clock_error_ns", whole), value("begin_ns", whole),
    value("end_ns", whole),
};
constexpr std::array run_metadata_columns{
    ColumnDescription{.name = "key", .type = text, .is_key = true},
    value("value", text),
};
constexpr std::array string_columns{key("id"), value("text", text)};
constexpr std::array process_columns{
    key("id"),
    maybe("rank", small),
    value("pid", whole),
    maybe("host_id", string),
    maybe("program_id", string),
    maybe("local_rank", whole),
    value("begin_ns", whole),
    value("end_ns", whole),
    value("ending", word),
    maybe("exit_status", whole),
};
constexpr std::array process_metadata_columns{value("process_id", small), maybe("key_id", string),
                                              maybe("value_id", string)};
constexpr std::array device_columns{key("id"), value("process_id", small), value("ordinal", small),
                                    maybe("name_id", string), maybe("uuid_id", string)};
constexpr std::array device_property_columns{value("device_id", small), maybe("key_id", string),
                                             maybe("value_id", string)};
constexpr std::array lane_columns{
    key("id"),
    value("process_id", small),
    maybe("rank", small),
    value("kind", word),
    maybe("name_id", string),
    value("number", whole),
    maybe("device", small),
};
constexpr std::array span_kind_columns{key("id"), value("name", word)};
constexpr std::array span_columns{
    key("id"),
    value("lane_id", small),
    ColumnDescription{.name = "kind_id", .type = small, .place = ColumnPlace::sqlite},
    joined("rank", small),
    joined("lane", string),
    joined("kind", word, Nulls::never),
    maybe("name_id", string),
    value("begin_ns", whole),
    value("duration_ns", whole),
    value("depth", small),
    value("cut_begin", flag),
    value("cut_end", flag),
    maybe("collective_id", whole),
};
constexpr std::array span_attribute_columns{value("span_id", whole), maybe("key_id", string), maybe("number", whole),
                                            maybe("text_id", string), maybe("json_id", string)};
constexpr std::array mark_columns{key("id"),
                                  value("lane_id", small),
                                  joined("rank", small),
                                  joined("lane", string),
                                  maybe("name_id", string),
                                  value("time_ns", whole)};
constexpr std::array mark_attribute_columns{value("mark_id", whole), maybe("key_id", string), maybe("number", whole),
                                            maybe("text_id", string), maybe("json_id", string)};
constexpr std::array link_columns{value("kind", word), value("from_span_id", whole), value("to_span_id", whole)};
constexpr std::array group_columns{key("id"), maybe("name_id", string), value("size", whole)};
constexpr std::array group_member_columns{value("group_id", small), value("position", small), value("rank", small)};
constexpr std::array collective_columns{
    key("id"),
    maybe("operation_id", whole),
    value("rank", small),
    maybe("group_id", small),
    joined("group", string),
    maybe("op_id", string),
    maybe("dtype_id", string),
    maybe("sequence", whole),
    maybe("bytes", whole),
    maybe("peer", whole),
    value("state", word),
    value("enqueued_ns", whole),
    maybe("started_ns", whole),
    maybe("finished_ns", whole),
    maybe("lane_id", small),
    maybe("enqueued_lane_id", small),
    maybe("span_id", whole),
    maybe("wait_ns", whole),
    maybe("transfer_ns", whole),
    maybe("waited_for", small),
};
constexpr std::array operation_columns{
    key("id"),
    maybe("group_id", small),
    joined("group", string),
    maybe("op_id", string),
    maybe("sequence", whole),
    maybe("bytes", whole),
    value("members", whole),
    value("complete", flag),
    maybe("first_rank", small),
    maybe("last_rank", small),
    value("first_start_ns", whole),
    value("last_start_ns", whole),
    maybe("wait_ns", whole),
    maybe("transfer_ns", whole),
};
constexpr std::array counter_columns{key("id"), value("process_id", small), maybe("rank", small),
                                     maybe("name_id", string)};
constexpr std::array sample_columns{value("counter_id", small), joined("rank", small), joined("counter", string),
                                    value("time_ns", whole), value("value", number)};
constexpr std::array step_columns{key("step"),
                                  value("begin_ns", whole),
                                  value("end_ns", whole),
                                  value("wall_ns", whole),
                                  value("complete", flag),
                                  value("warm_up", flag)};
constexpr std::array rank_step_columns{
    value("rank", small),
    value("step", whole),
    value("begin_ns", whole),
    value("end_ns", whole),
    ColumnDescription{.name = "duration_ns", .type = whole, .place = ColumnPlace::arrow},
    value("complete", flag),
};
constexpr std::array quality_columns{ColumnDescription{.name = "counter", .type = text, .is_key = true},
                                     value("value", whole), value("severity", word), value("advice", text)};
constexpr std::array rank_columns{
    ColumnDescription{.name = "rank", .type = small, .is_key = true},
    value("host", text),
    value("device", text),
    value("window_ns", whole),
    value("compute_ns", whole),
    value("exposed_comm_ns", whole),
    value("memory_ns", whole),
    value("idle_ns", whole),
    value("own_ns", whole),
    value("comm_ns", whole),
    value("overlapped_comm_ns", whole),
    value("wait_ns", whole),
    value("transfer_ns", whole),
    value("unsplit_ns", whole),
    value("idle_host_ns", whole),
    value("idle_sync_ns", whole),
    value("idle_data_ns", whole),
    value("idle_kernel_gap_ns", whole),
    value("idle_other_ns", whole),
    maybe("overlap_ratio", number),
    maybe("busy", number),
    maybe("peak_allocated_bytes", whole),
    maybe("peak_reserved_bytes", whole),
    maybe("cpu_percent", number),
};
constexpr std::array rank_step_time_columns{
    value("rank", small),
    value("step", whole),
    value("window_ns", whole),
    value("compute_ns", whole),
    value("exposed_comm_ns", whole),
    value("memory_ns", whole),
    value("idle_ns", whole),
    value("own_ns", whole),
    value("wait_ns", whole),
    value("transfer_ns", whole),
    value("unsplit_ns", whole),
};
constexpr std::array kernel_columns{
    value("rank", small),      value("name", text),    value("short_name", text),    value("kind", word),
    value("count", whole),     value("sum_ns", whole), value("exclusive_ns", whole), value("min_ns", whole),
    value("median_ns", whole), value("p90_ns", whole), value("max_ns", whole),
};
constexpr std::array operator_columns{
    value("kind", word),
    value("name", text),
    value("calls", whole),
    value("self_ns", whole),
    value("total_ns", whole),
    value("device_ns", whole),
    value("device_total_ns", whole),
    value("backward_calls", whole),
    value("backward_total_ns", whole),
    value("backward_device_total_ns", whole),
};
constexpr std::array launch_columns{
    value("rank", small),           maybe("device", small),          maybe("stream", whole),
    value("launches", whole),       value("in_graphs", whole),       value("without_launch", whole),
    maybe("call_median_ns", whole), maybe("delay_median_ns", whole), maybe("delay_p90_ns", whole),
    value("kernels", whole),        value("short_kernels", whole),   value("kernels_ns", whole),
    value("short_ns", whole),       value("queue_mean", number),     value("queue_most", whole),
};
constexpr std::array memory_columns{
    value("rank", small),
    value("kind", word),
    maybe("device", small),
    maybe("name", text),
    maybe("peak_allocated_bytes", whole),
    maybe("peak_time_ns", whole),
    maybe("peak_step", whole),
    maybe("peak_op", text),
    maybe("peak_reserved_bytes", whole),
    maybe("total_bytes", whole),
    maybe("growth_bytes_per_step", number),
};
constexpr std::array straggler_columns{
    value("rank", small),
    value("kind", word),
    value("persistence", word),
    value("certainty", word),
    value("severity", word),
    value("slowdown", number),
    value("lag_ns_per_step", whole),
    maybe("gain_ns_per_step", whole),
    value("evidence", text),
};
constexpr std::array finding_columns{
    value("finding", text),   value("severity", word), maybe("rank", small),  maybe("step", whole),
    value("title", text),     value("evidence", text), value("advice", text), maybe("gain_ns_per_step", whole),
    maybe("certainty", word),
};
constexpr std::array missing_columns{ColumnDescription{.name = "table_name", .type = word, .is_key = true},
                                     value("why", text)};

using RowChoice::ranks;
using RowChoice::ranks_and_steps;

constexpr std::array all_tables{
    TableDescription{"run", "the run (there is exactly one row)", run_columns},
    TableDescription{"run_metadata", "a fact about the run", run_metadata_columns},
    TableDescription{"strings", "a string", string_columns},
    TableDescription{"processes", "a process", process_columns, {}, ranks},
    TableDescription{"process_metadata", "a fact about a process", process_metadata_columns, {}, ranks},
    TableDescription{"devices", "an accelerator as a process sees it", device_columns, {}, ranks},
    TableDescription{"device_properties", "a property of an accelerator", device_property_columns, {}, ranks},
    TableDescription{"lanes", "a thread, stream or queue", lane_columns, {}, ranks},
    TableDescription{"span_kinds", "a kind of span", span_kind_columns},
    TableDescription{"spans", "something that took time", span_columns, {}, ranks_and_steps},
    TableDescription{"span_attributes", "an argument of a span", span_attribute_columns, {}, ranks_and_steps},
    TableDescription{"marks", "a point in time on a lane", mark_columns, {}, ranks_and_steps},
    TableDescription{"mark_attributes", "an argument of a mark", mark_attribute_columns, {}, ranks_and_steps},
    TableDescription{
        "links", "a pair of spans of which the first caused the second", link_columns, {}, ranks_and_steps},
    TableDescription{"groups", "a communicator", group_columns},
    TableDescription{"group_members", "a rank of a communicator", group_member_columns,
                     "PRIMARY KEY(group_id, position)", ranks},
    TableDescription{"operations",
                     "a collective, or a pair of send and receive, with all its members",
                     operation_columns,
                     {},
                     ranks_and_steps},
    TableDescription{
        "collectives", "one rank's part of a collective, send or receive", collective_columns, {}, ranks_and_steps},
    TableDescription{"counters", "a sampled quantity of a process", counter_columns, {}, ranks},
    TableDescription{"samples", "a value of a sampled quantity", sample_columns, {}, ranks_and_steps},
    TableDescription{"steps", "a step of the job", step_columns, {}, RowChoice::steps},
    TableDescription{"rank_steps", "a step of one rank", rank_step_columns, "PRIMARY KEY(rank, step)", ranks_and_steps},
    TableDescription{"ranks", "where the time of a rank went", rank_columns, {}, ranks_and_steps},
    TableDescription{"rank_step_times", "where the time of a rank went in one counted step", rank_step_time_columns,
                     "PRIMARY KEY(rank, step)", ranks_and_steps},
    TableDescription{
        "kernels", "a kernel, copy or communication kernel of one rank", kernel_columns, {}, ranks_and_steps},
    TableDescription{
        "operators", "all calls of an operator or annotation, on all ranks", operator_columns, {}, ranks_and_steps},
    TableDescription{
        "launches", "the launches of a rank or of one of its streams", launch_columns, {}, ranks_and_steps},
    TableDescription{
        "memory", "a rank's memory on an accelerator or in the host's allocator", memory_columns, {}, ranks_and_steps},
    TableDescription{"stragglers", "a slow rank", straggler_columns, {}, ranks_and_steps},
    TableDescription{"findings", "a problem that was found, the worst first", finding_columns, {}, ranks_and_steps},
    TableDescription{"missing", "a table that cannot be computed from this run", missing_columns},
    TableDescription{"quality", "something that was lost or altered", quality_columns},
};

}  // namespace
}  // namespace described

std::span<const TableDescription> table_descriptions() { return described::all_tables; }

const TableDescription* find_table(std::string_view name) {
  const auto found = std::ranges::find(described::all_tables, name, &TableDescription::name);
  return found == described::all_tables.end() ? nullptr : &*found;
}

}  // namespace rankscope::analyzer
