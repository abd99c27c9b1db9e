// The records of a chunk, as described in core/src/recording/FORMAT.md. Little-endian, 8-byte aligned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankscope::recording {

/// The numbers are part of the format and never change their meaning; new ones raise the minor version.
enum class RecordType : std::uint8_t {
  string = 1,          ///< name = id in this chunk; length u64, bytes, zero padding
  push = 2,            ///< code = SpanKind, name; ticks
  pop = 3,             ///< ticks
  range_start = 4,     ///< code = SpanKind, name; ticks, handle (may end on another thread)
  range_end = 5,       ///< ticks, handle
  mark = 6,            ///< name; ticks
  attribute_int = 7,   ///< name = key; value i64. Belongs to the innermost open span of the thread
  attribute_text = 8,  ///< name = key; value = string id u64; code = 1 (from 1.1 on): the value is JSON
  counter = 9,         ///< name; ticks, value f64
  comm_enqueued = 10,  ///< see CommEnqueued
  comm_started = 11,   ///< ticks, uid
  comm_finished = 12,  ///< ticks, uid
  thread_name = 13,    ///< name; code = 1: this thread executes communication
  metadata = 14,       ///< name = key; value = string id u64
  clock_pair = 15,     ///< ticks, monotonic ns, realtime ns
  // 1.1: attributes of what is no span of the thread's stack. The owner has been written before, perhaps in an earlier
  // chunk; a range's perhaps by another thread.
  mark_attribute_int = 16,    ///< name = key; value i64. Belongs to the latest mark of the thread
  mark_attribute_text = 17,   ///< name = key; value = string id u64
  range_attribute_int = 18,   ///< name = key; value i64, handle
  range_attribute_text = 19,  ///< name = key; value = string id u64, handle
  // 1.3: what an accelerator did, reported afterwards by its own clock, and what a communication library says of
  // itself.
  activity = 20,             ///< code = SpanKind, name; ActivityFields, items
  call = 21,                 ///< code = SpanKind, name; CallFields, items
  moment = 22,               ///< code = MomentPlace, name; ActivityFields with end = begin, items
  device = 23,               ///< name = product; DeviceFields, items
  anchor = 24,               ///< code = ForeignClock; ticks, ns of that clock
  comm_attribute_int = 25,   ///< name = key; value i64, uid
  comm_attribute_text = 26,  ///< name = key; value = string id u64, uid
  comm_returned = 27,        ///< ticks, uid: the call that enqueued has returned
  comm_device_times = 28,    ///< uid; begin and end in ForeignClock::globaltimer, of one channel
  communicator = 29,         ///< name; number of its ranks u32 (0 = unknown), this rank in it i32 (-1 = unknown)
  // 1.5: what stands for chunks that were thinned out (record --keep); only in chunks of sums_thread.
  step_sums = 30,  ///< code = SpanKind, name of the step's span; StepSumsFields
  thinned = 31,    ///< ThinnedFields
};

/// RecordHead::code of an attribute_text whose value is JSON.
inline constexpr std::uint8_t is_json = 1;

/// Keys of comm_attribute_int that no reader shows: the thread that called the communication library (gettid), and how
/// many ns before its comm_enqueued. Only where another thread wrote that record.
inline constexpr const char* called_on_key = "called_on";
inline constexpr const char* called_ago_key = "called_ago_ns";

/// First 8 bytes of every record.
struct RecordHead {
  std::uint8_t type;  ///< RecordType; unknown ones are skipped and counted
  std::uint8_t code;
  std::uint16_t words;  ///< length of the whole record in 8-byte words
  std::uint32_t name;   ///< string id, valid inside this chunk only
};
static_assert(sizeof(RecordHead) == 8);

/// Payload of a comm_enqueued record (after the head; head.name = op).
struct CommEnqueued {
  std::uint64_t ticks;
  std::uint64_t uid;
  std::int64_t sequence;
  std::int64_t bytes;
  std::uint32_t group;  ///< string ids
  std::uint32_t dtype;
  std::uint32_t members;
  std::int32_t peer;
};
static_assert(sizeof(CommEnqueued) == 48);

/// Clocks that are not the segment's; anchors tie them to it.
enum class ForeignClock : std::uint8_t {
  activities = 1,   ///< of activities, calls and moments, ns; without an anchor it is CLOCK_REALTIME
  globaltimer = 2,  ///< of the accelerator itself, ns; without an anchor its times cannot be used
};

/// Where a moment is shown.
enum class MomentPlace : std::uint8_t { stream = 0, main_thread = 1 };

/// Payload of an activity or moment. 0 as a time: the source does not know it.
struct ActivityFields {
  std::int64_t begin;
  std::int64_t end;
  std::uint32_t device;  ///< ordinal inside the process
  std::uint32_t context;
  std::uint32_t stream;       ///< no_stream: the whole device
  std::uint32_t correlation;  ///< shared with the call that launched it; 0 = none
  static constexpr std::uint32_t no_stream = 0xFFFFFFFF;
};
static_assert(sizeof(ActivityFields) == 32);

/// Payload of a call: what a host thread did, reported by another one.
struct CallFields {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t thread;  ///< gettid()
  std::uint32_t correlation;
  std::uint32_t reserved;
};
static_assert(sizeof(CallFields) == 32);

/// Payload of a device; its uuid is an item.
struct DeviceFields {
  std::uint32_t ordinal;
  std::uint32_t reserved;
};

/// Payload of a step_sums record: what a process did in a step. The five times add up to the length of the window or
/// less; in the rest of it nothing of this was recorded.
struct StepSumsFields {
  std::uint64_t begin;       ///< ticks of the step's span
  std::uint64_t end;         ///< the same
  std::uint64_t window_end;  ///< ticks: where the next step begins; `end` if its number is not the next one
  std::int64_t index;
  std::int64_t os_thread;         ///< whose span the step was
  std::int64_t compute_ns;        ///< on the device if one was recorded, else on the host
  std::int64_t communication_ns;  ///< hidden by no compute; waits for other ranks are part of it
  std::int64_t copies_ns;
  std::int64_t data_ns;
  std::int64_t wait_ns;     ///< the thread of the steps was blocked
  std::int64_t bytes;       ///< of the operations that were enqueued in the window, as far as they are known
  std::int64_t operations;  ///< of communication that were enqueued in the window
};
static_assert(sizeof(StepSumsFields) == 96);

/// Payload of a thinned record: these chunks of a thread were read and then given up.
struct ThinnedFields {
  std::uint32_t thread;
  std::uint32_t first_sequence;
  std::uint32_t chunks;
  std::uint32_t without_sums;  ///< 1: no sums stand for some of the steps that they were part of
  std::uint64_t events;
  std::uint64_t cut;  ///< ticks: all chunks that were given up so far hold only events from before
};
static_assert(sizeof(ThinnedFields) == 32);

/// Behind these payloads: one word per attribute, the key's id in its low 24 bits, ItemKind in the next 8, a value in
/// the high 32. A wide number takes the word behind it.
enum class ItemKind : std::uint8_t { number = 0, wide_number = 1, text = 2, json = 3 };
inline constexpr std::size_t most_items = 16;

}  // namespace rankscope::recording
