// Idle time as findings name it: by what would have to change.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "split/row_sums.h"

namespace rankscope::analyzer {

enum class IdlePart : std::uint8_t {
  late_launch,  ///< the host launched late, or the launch was under way
  sync,
  short_gaps,
  outside_spans,  ///< of a CPU rank: outside of everything that was recorded
  other_stream,
  inside_graph,
  profiler,
  nothing_launched,  ///< nothing was put on the device any more
  no_launch_record,
  began_late,  ///< queued in time, and no record says why it waited
};

struct IdlePartSum {
  IdlePart part{};
  std::int64_t ns = 0;
};

/// Idle time except waiting for data, without start-up and the end of whole recordings; the longest part first.
[[nodiscard]] std::vector<IdlePartSum> idle_parts(const Usual& usual);

/// The part to which a share of idle time belongs.
[[nodiscard]] IdlePart part_of(const IdleShare& share);

/// What the time was lost to, after a duration: "because the host launched late", "in short gaps (≤ 10 µs)", ...
[[nodiscard]] std::string_view words_of(IdlePart part);
/// Why it is not known what a fix would save; empty where the advice on the part removes it.
[[nodiscard]] std::string_view why_no_gain(IdlePart part);

}  // namespace rankscope::analyzer
