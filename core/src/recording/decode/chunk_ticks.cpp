#include "recording/decode/chunk_ticks.h"

#include <algorithm>

#include "rankscope/core/recording/records.h"

namespace rankscope::recording {
namespace {

/// When a record was written, as far as it says so.
enum class Written : std::uint8_t { at_its_time, without_time, after_the_event };

Written written(RecordType type) {
  switch (type) {
    case RecordType::push:
    case RecordType::pop:
    case RecordType::range_start:
    case RecordType::range_end:
    case RecordType::mark:
    case RecordType::counter:
    case RecordType::comm_enqueued:
    case RecordType::comm_started:
    case RecordType::comm_finished:
    case RecordType::comm_returned:
    case RecordType::clock_pair:
      return Written::at_its_time;
    case RecordType::string:
    case RecordType::attribute_int:
    case RecordType::attribute_text:
    case RecordType::mark_attribute_int:
    case RecordType::mark_attribute_text:
    case RecordType::range_attribute_int:
    case RecordType::range_attribute_text:
    case RecordType::comm_attribute_int:
    case RecordType::comm_attribute_text:
    case RecordType::thread_name:
    case RecordType::metadata:
    case RecordType::device:
    case RecordType::anchor:
    case RecordType::communicator:
    case RecordType::step_sums:
    case RecordType::thinned:
      return Written::without_time;
    case RecordType::activity:
    case RecordType::call:
    case RecordType::moment:
    case RecordType::comm_device_times:
      return Written::after_the_event;
  }
  return Written::after_the_event;  // what a newer version writes
}

}  // namespace

std::optional<ChunkTicks> ticks_of(const Chunk& chunk) {
  std::optional<ChunkTicks> ticks;
  RecordWalk walk{chunk.payload};
  for (Record record{}; walk.next(record);) {
    const Written when = written(static_cast<RecordType>(record.head.type));
    if (when == Written::after_the_event) return std::nullopt;
    if (when == Written::without_time) continue;
    if (!ticks) ticks = ChunkTicks{record.word(0), record.word(0)};
    ticks->last = std::max(ticks->last, record.word(0));
  }
  return ticks;
}

}  // namespace rankscope::recording
