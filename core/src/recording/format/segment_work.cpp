#include "recording/format/segment_work.h"

#include <algorithm>

#include "rankscope/core/model/span.h"
#include "recording/format/field_text.h"

namespace rankscope::recording {
namespace {

/// Of what a device did. Waits for a device, and stalls of the profiler, are no work.
bool is_work_of_device(SpanKind kind) {
  using enum SpanKind;
  return kind == compute || kind == memory || kind == comm || kind == graph;
}

/// Of a range of the host. Calls, operators and ranges of unknown meaning are no proof of it: PyTorch and its
/// extensions call operators while they are imported.
bool is_work_of_host(SpanKind kind) {
  using enum SpanKind;
  return kind == step || kind == data || kind == forward || kind == backward || kind == optimizer ||
         kind == checkpoint || kind == comm || kind == compute;
}

WorkLevel level_of(const RecordHead& head) {
  using enum RecordType;
  const auto type = static_cast<RecordType>(head.type);
  const auto kind = static_cast<SpanKind>(head.code);
  const bool is_range = type == push || type == range_start;
  const bool is_work =
      type == comm_enqueued || (type == activity && is_work_of_device(kind)) || (is_range && is_work_of_host(kind));
  if (is_work) return WorkLevel::work;
  const bool is_event = is_range || type == activity || type == call || type == mark || type == moment;
  return is_event ? WorkLevel::events : WorkLevel::samples;
}

WorkLevel level_of(const Chunk& chunk) {
  WorkLevel level = WorkLevel::samples;
  RecordWalk walk{chunk.payload};
  for (Record record{}; level != WorkLevel::work && walk.next(record);) level = std::max(level, level_of(record.head));
  return level;
}

}  // namespace

WorkLevel work_level_of(const SegmentFile& segment) {
  WorkLevel level = WorkLevel::none;
  if (is_watched(segment)) return level;
  for (const Chunk& chunk : segment.chunks)
    if (level != WorkLevel::work) level = std::max(level, level_of(chunk));
  return level;
}

bool has_rank(const SegmentFile& segment) { return segment.fixed.rank >= 0 || segment.counters.late_rank > 0; }

bool is_watched(const SegmentFile& segment) { return field_text(segment.fixed.rank_source) == watched_source; }

}  // namespace rankscope::recording
