// What a host thread was in at each instant, down to its innermost span.
#pragma once

#include <span>
#include <vector>

#include "replay/graph.h"

namespace rankscope::analyzer::replay {

/// From `begin` until the next stretch begins.
struct Stretch {
  RunTime begin;
  SpanId span{};  ///< innermost; none: outside of all
  Work work = Work::host;
  bool idle = true;  ///< in nothing but annotations
};

/// What the time on a host thread counts as: on a rank without accelerator the thread itself computes.
enum class HostRole : std::uint8_t { feeds_accelerator, computes };

/// Ascending, without gaps; the last one lasts for ever. Before the first one the thread is nowhere.
[[nodiscard]] std::vector<Stretch> stretches_of(const Run& run, const Lane& lane, HostRole role);

/// True for spans in which the thread stands still until something else is done.
[[nodiscard]] bool is_blocked(const Run& run, const Span& span);

}  // namespace rankscope::analyzer::replay
