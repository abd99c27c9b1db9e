// The rows of a Run. Plain data; what ties them together is Run (run.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/core/id.h"
#include "rankscope/core/time.h"

namespace rankscope {

/// What a span is (metrics.md 0). The values are stored in recordings: append only.
enum class SpanKind : std::uint8_t {
  user = 0,         ///< annotation or NVTX range; not classified by itself
  step = 1,         ///< one training step, attribute "index"
  data = 2,         ///< the main thread waits for its loader
  forward = 3,      ///< compute
  backward = 4,     ///< compute
  optimizer = 5,    ///< compute
  op = 6,           ///< framework operator; compute on a CPU rank
  wait = 7,         ///< the host is blocked until a collective has finished
  sync = 8,         ///< the host is blocked in a barrier, join or device synchronization
  loader = 9,       ///< work of a loader worker; no part of any time split
  checkpoint = 10,  ///< writing or reading a checkpoint
  comm = 11,        ///< a collective or send/receive from started to finished, or a communication kernel
  compute = 12,     ///< kernel on a stream
  memory = 13,      ///< copy or memset on a stream
  runtime = 14,     ///< call into CUDA's runtime or driver
  overhead = 15,    ///< the profiler's own stall
  api = 16,         ///< host call into a communication library (NCCL's NVTX ranges)
};
inline constexpr std::size_t span_kind_count = 17;

[[nodiscard]] std::string_view name_of(SpanKind kind);
[[nodiscard]] std::optional<SpanKind> span_kind_from(std::string_view name);

/// Bits of Span::flags.
namespace span_flag {
inline constexpr std::uint8_t cut_begin = 1;  ///< began before the recording, or its begin was lost
inline constexpr std::uint8_t cut_end = 2;    ///< still open when the recording ended, or its end was lost
}  // namespace span_flag

/// One thing that took time on one lane; 32 bytes. Spans of a lane are sorted by begin, the longer first.
struct Span {
  TimeRange time{};
  StringId name{};
  LaneId lane{};
  SpanKind kind = SpanKind::user;
  std::uint8_t flags = 0;
  std::uint16_t depth = 0;                   ///< number of spans of the lane that enclose it
  std::uint32_t collective = no_collective;  ///< row of Run::collectives()

  static constexpr std::uint32_t no_collective = 0xFFFFFFFF;
  bool operator==(const Span&) const = default;
};
static_assert(sizeof(Span) == 32);

/// A number or a text that belongs to a span, e.g. "index" = 3.
struct Attribute {
  SpanId span{};
  StringId key{};
  StringId text{};          ///< set: the value is this text
  std::int64_t number = 0;  ///< else: the value
  bool operator==(const Attribute&) const = default;
};

/// A point in time on a lane.
struct Mark {
  RunTime time{};
  LaneId lane{};
  StringId name{};
  bool operator==(const Mark&) const = default;
};

enum class LaneKind : std::uint8_t {
  thread,  ///< host thread
  comm,    ///< thread or queue that executes communication
  stream,  ///< in-order queue of an accelerator
};
[[nodiscard]] std::string_view name_of(LaneKind kind);
[[nodiscard]] std::optional<LaneKind> lane_kind_from(std::string_view name);

/// A row of the timeline: one thread or stream of one process.
struct Lane {
  RankId rank{};              ///< none: a process without a rank
  std::uint32_t process = 0;  ///< row of Run::processes()
  LaneKind kind = LaneKind::thread;
  StringId name{};
  std::int64_t number = 0;  ///< thread id or stream number
  std::uint32_t first_span = 0;
  std::uint32_t span_count = 0;
};

enum class CommState : std::uint8_t { enqueued, started, finished };

/// One rank's part of a collective or send/receive. `enqueued <= started <= finished` where set.
struct Collective {
  RankId rank{};
  GroupId group{};
  StringId op{};  ///< "allreduce", "send", ...
  StringId dtype{};
  std::int64_t sequence = -1;  ///< n-th operation of the group, equal on all members; -1 = not recorded
  std::int64_t bytes = -1;     ///< count x element size on this rank; -1 = not recorded
  std::int64_t peer = -1;      ///< root or partner, global rank
  CommState state = CommState::finished;
  RunTime enqueued{};
  RunTime started{};
  RunTime finished{};    ///< times later than `state` are 0 and mean nothing
  LaneId lane{};         ///< where it was executed (none: never started)
  LaneId enqueued_on{};  ///< thread that enqueued it
  SpanId span{};         ///< started -> finished; none if it never started
};

/// A communicator: name and global ranks in group order.
struct Group {
  StringId name{};
  std::vector<RankId> members{};
};

/// Values of one quantity of one process over time.
struct CounterTrack {
  RankId rank{};
  std::uint32_t process = 0;
  StringId name{};  ///< ends in its unit: "rss_bytes", "cpu_percent"
  std::uint32_t first_sample = 0;
  std::uint32_t sample_count = 0;
};
struct CounterSample {
  RunTime time{};
  double value = 0;
  bool operator==(const CounterSample&) const = default;
};

/// How a process left its recording.
enum class Ending : std::uint8_t {
  unknown,   ///< the source does not tell
  exited,    ///< through exit(); `exit_status` is known
  vanished,  ///< killed, crashed or _exit: the recording just stops
};
[[nodiscard]] std::string_view name_of(Ending ending);
[[nodiscard]] std::optional<Ending> ending_from(std::string_view name);

/// One recorded operating-system process.
struct Process {
  RankId rank{};  ///< none: no launcher variable, no communicator told it
  std::int64_t pid = 0;
  StringId host{};
  StringId program{};  ///< base name of the executable
  std::int64_t local_rank = -1;
  TimeRange recorded{};  ///< from its first to its last event
  Ending ending = Ending::unknown;
  std::int64_t exit_status = 0;
  std::vector<std::pair<StringId, StringId>> metadata{};  ///< sorted by key text
};

}  // namespace rankscope
