// Field numbers of Perfetto's trace format, as in protos/perfetto/trace of its source (v58.2). Only what we write.
// Varints unless said otherwise.
#pragma once

#include <cstdint>

namespace rankscope::analyzer::perfetto {

using Field = std::uint32_t;

namespace trace {
inline constexpr Field packet = 1;  ///< message
}

namespace packet {
inline constexpr Field clock_snapshot = 6;  ///< message
inline constexpr Field timestamp = 8;
inline constexpr Field sequence_id = 10;
inline constexpr Field track_event = 11;    ///< message
inline constexpr Field interned_data = 12;  ///< message
inline constexpr Field sequence_flags = 13;
inline constexpr Field defaults = 59;          ///< message
inline constexpr Field track_descriptor = 60;  ///< message
inline constexpr Field first_on_sequence = 87;

inline constexpr std::uint32_t state_cleared = 1;  ///< bits of sequence_flags
inline constexpr std::uint32_t needs_state = 2;
}  // namespace packet

namespace defaults {
inline constexpr Field track_event = 11;  ///< message TrackEventDefaults
inline constexpr Field timestamp_clock_id = 58;
inline constexpr Field track_uuid = 11;  ///< of TrackEventDefaults
}  // namespace defaults

namespace track {
inline constexpr Field uuid = 1;
inline constexpr Field name = 2;     ///< string
inline constexpr Field process = 3;  ///< message
inline constexpr Field thread = 4;   ///< message
inline constexpr Field parent_uuid = 5;
inline constexpr Field counter = 8;  ///< message
inline constexpr Field child_ordering = 11;
inline constexpr Field sibling_order_rank = 12;
inline constexpr Field description = 14;  ///< string
inline constexpr Field sibling_merge_behavior = 15;
inline constexpr Field process_ordering = 19;  ///< on uuid 0 only; readers before v57 do not know it
inline constexpr Field thread_ordering = 20;

inline constexpr std::int32_t explicit_children = 3;  ///< child_ordering
inline constexpr std::int32_t never_merge = 2;        ///< sibling_merge_behavior; the default merges equal names
inline constexpr std::int32_t explicit_order = 1;     ///< process_ordering, thread_ordering
}  // namespace track

namespace process {
inline constexpr Field pid = 1;
inline constexpr Field name = 6;  ///< string
}  // namespace process

namespace thread {
inline constexpr Field pid = 1;
inline constexpr Field tid = 2;
inline constexpr Field name = 5;  ///< string
}  // namespace thread

namespace counter {
inline constexpr Field unit = 3;
inline constexpr Field unit_name = 6;  ///< string

inline constexpr std::int32_t nanoseconds = 1;  ///< unit
inline constexpr std::int32_t count = 2;
inline constexpr std::int32_t bytes = 3;
}  // namespace counter

namespace event {
inline constexpr Field category_iids = 3;
inline constexpr Field debug_annotations = 4;  ///< message
inline constexpr Field type = 9;
inline constexpr Field name_iid = 10;
inline constexpr Field counter_value = 30;
inline constexpr Field double_counter_value = 44;  ///< double
inline constexpr Field flow_ids = 47;              ///< fixed64
inline constexpr Field terminating_flow_ids = 48;  ///< fixed64
inline constexpr Field correlation_id = 52;

inline constexpr std::int32_t slice_begin = 1;  ///< type
inline constexpr std::int32_t slice_end = 2;
inline constexpr std::int32_t instant = 3;
inline constexpr std::int32_t counter = 4;
}  // namespace event

namespace annotation {
inline constexpr Field name_iid = 1;
inline constexpr Field bool_value = 2;
inline constexpr Field uint_value = 3;
inline constexpr Field int_value = 4;
inline constexpr Field double_value = 5;  ///< double
inline constexpr Field string_value = 6;  ///< string
inline constexpr Field string_value_iid = 17;
}  // namespace annotation

namespace interned {
inline constexpr Field categories = 1;  ///< each a message of iid and name
inline constexpr Field event_names = 2;
inline constexpr Field annotation_names = 3;
inline constexpr Field string_values = 29;

inline constexpr Field iid = 1;   ///< from 1: 0 means "not set"
inline constexpr Field name = 2;  ///< string; bytes in string_values
}  // namespace interned

namespace clock_snapshot {
inline constexpr Field clocks = 1;  ///< message
inline constexpr Field clock_id = 1;
inline constexpr Field timestamp = 2;
inline constexpr Field is_incremental = 3;

inline constexpr std::uint32_t realtime = 1;  ///< clock_id
inline constexpr std::uint32_t boottime = 6;
inline constexpr std::uint32_t own_deltas = 64;  ///< 64 to 127 belong to the sequence that defines them
}  // namespace clock_snapshot

}  // namespace rankscope::analyzer::perfetto
