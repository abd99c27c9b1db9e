// What happened when and where: spans, marks, the lanes they lie on, and links between spans.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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
  python = 17,      ///< frame of a Python call stack; no part of any time split
  graph = 18,       ///< replay of a CUDA graph whose kernels were not recorded one by one
};
inline constexpr std::size_t span_kind_count = 19;

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

/// A point in time on a lane.
struct Mark {
  RunTime time{};
  LaneId lane{};
  StringId name{};
  bool operator==(const Mark&) const = default;
};

/// Which way the cause goes from one span to the other.
enum class LinkKind : std::uint8_t {
  launch,            ///< host call -> the work it put on a stream
  forward_backward,  ///< forward operator -> its backward operator
};
inline constexpr std::size_t link_kind_count = 2;
[[nodiscard]] std::string_view name_of(LinkKind kind);
[[nodiscard]] std::optional<LinkKind> link_kind_from(std::string_view name);

/// One span caused another.
struct Link {
  LinkKind kind = LinkKind::launch;
  SpanId from{};
  SpanId to{};
  bool operator==(const Link&) const = default;
};

/// What runs on a lane, and so whether its spans are work of the host, work of a device, or no work at all.
enum class LaneKind : std::uint8_t {
  thread,      ///< host thread
  comm,        ///< thread or queue that executes communication
  stream,      ///< in-order queue of an accelerator
  annotation,  ///< host ranges projected onto a stream; no work of its own
};
[[nodiscard]] std::string_view name_of(LaneKind kind);
[[nodiscard]] std::optional<LaneKind> lane_kind_from(std::string_view name);

/// A row of the timeline: one thread or stream of one process. The name is unique within its process.
struct Lane {
  RankId rank{};              ///< none: a process without a rank
  std::uint32_t process = 0;  ///< row of Run::processes()
  LaneKind kind = LaneKind::thread;
  StringId name{};
  std::int64_t number = 0;   ///< thread id or stream number
  std::int32_t device = -1;  ///< ordinal of the accelerator inside the process; -1 = host, or not recorded
  std::uint32_t first_span = 0;
  std::uint32_t span_count = 0;
};

}  // namespace rankscope
