// Attribute keys that code reads. Imported spans carry Kineto's argument names, whatever profiler they come from.
#pragma once

#include <string_view>

namespace rankscope::analyzer::keys {

inline constexpr std::string_view index = "index";   ///< of a step
inline constexpr std::string_view category = "cat";  ///< Kineto category, where the kind of span does not tell it
inline constexpr std::string_view os_runtime = "os_runtime";    ///< value of category: calls into the operating system
inline constexpr std::string_view correlation = "correlation";  ///< number that a launch and its work share
inline constexpr std::string_view external_id = "External id";
inline constexpr std::string_view event_index = "Ev Idx";
inline constexpr std::string_view device = "device";
inline constexpr std::string_view stream = "stream";
inline constexpr std::string_view bytes = "bytes";
inline constexpr std::string_view memory_bandwidth = "memory bandwidth (GB/s)";
inline constexpr std::string_view queued = "queued";
inline constexpr std::string_view finished = "finished";
inline constexpr std::string_view context = "context";
inline constexpr std::string_view grid = "grid";
inline constexpr std::string_view block = "block";
inline constexpr std::string_view registers = "registers per thread";
inline constexpr std::string_view shared_memory = "shared memory";
inline constexpr std::string_view graph_id = "graph id";
inline constexpr std::string_view graph_node_id = "graph node id";
inline constexpr std::string_view sequence_number = "Sequence number";
inline constexpr std::string_view record_function_id = "Record function id";
inline constexpr std::string_view input_dims = "Input Dims";
inline constexpr std::string_view input_types = "Input type";
inline constexpr std::string_view concrete_inputs = "Concrete Inputs";  ///< values of what is no tensor
inline constexpr std::string_view own_input_dims = "input_dims";        ///< as the reference trainer writes them
inline constexpr std::string_view own_input_types = "input_types";

// collectives (c10d)
inline constexpr std::string_view collective_name = "Collective name";
inline constexpr std::string_view dtype = "dtype";
inline constexpr std::string_view in_elements = "In msg nelems";
inline constexpr std::string_view out_elements = "Out msg nelems";
inline constexpr std::string_view group_size = "Group size";
inline constexpr std::string_view group_name = "Process Group Name";
inline constexpr std::string_view group_id = "Process Group ID";
inline constexpr std::string_view group_ranks = "Process Group Ranks";
inline constexpr std::string_view rank_start = "Global rank start";
inline constexpr std::string_view rank_stride = "Global rank stride";
inline constexpr std::string_view sequence = "Seq";
inline constexpr std::string_view rank = "Rank";
inline constexpr std::string_view source_rank = "Src Rank";
inline constexpr std::string_view destination_rank = "Dst Rank";

// what Kineto has no word for, in our own exports
inline constexpr std::string_view own_kind = "rankscope kind";  ///< name of the SpanKind
inline constexpr std::string_view own_flags = "rankscope cut";  ///< span_flag: 1 = begin, 2 = end
inline constexpr std::string_view own_copy = "rankscope copy";  ///< for other tools; the export says it elsewhere, too
inline constexpr std::string_view own_prefix = "rankscope ";

inline constexpr std::string_view model_flops_per_step = "model_flops_per_step";  ///< metadata: of all ranks together

// of a process read from Kineto
inline constexpr std::string_view file_time_offset = "file_time_offset_ns";  ///< time in the file - run time, in ns
inline constexpr std::string_view devices_not_read = "devices_not_read";     ///< called, but their work is not there
inline constexpr std::string_view file_time_type = "file_time_type";         ///< of its ts: "integer" or "float"

// of a process that rankscope recorded
/// The first of the hook's problems (pytorch_problem) because of which collectives are not recorded.
inline constexpr std::string_view pytorch_collectives_problem = "pytorch_collectives_problem";

// of a run read from Nsight Systems
inline constexpr std::string_view nsys_export_again = "nsys.export_with_payloads";  ///< the command

// allocator events
inline constexpr std::string_view device_type = "Device Type";
inline constexpr std::string_view device_id = "Device Id";
inline constexpr std::string_view address = "Addr";
inline constexpr std::string_view allocation = "Bytes";
inline constexpr std::string_view total_allocated = "Total Allocated";
inline constexpr std::string_view total_reserved = "Total Reserved";

}  // namespace rankscope::analyzer::keys
