// Where the lanes of a process stand in a file of Kineto's JSON.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// The pid and tid that the events of a lane carry.
struct KinetoRow {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  bool of_profiler = false;  ///< Kineto's own window and marks, whose rows are texts
  bool overhead = false;
};

/// True for runs of which Kineto's own fields tell all.
[[nodiscard]] bool is_kineto_trace(const Run& run);

/// By lane of the run; those of other processes are empty. Rows of the host are threads of the process, and two of one
/// number become threads of different pids; two streams of one device and number get different numbers.
[[nodiscard]] std::vector<KinetoRow> kineto_rows(const Run& run, std::uint32_t process);

// Kineto's categories for the spans of any run.

/// The one that comes nearest.
[[nodiscard]] std::string_view kineto_category(const Run& run, const Span& span, const KinetoRow& row);
/// True if a reader makes this kind of a category, unless the name says otherwise.
[[nodiscard]] bool states_kind(std::string_view category, SpanKind kind);
/// True if a reader puts a category on rows of this kind.
[[nodiscard]] bool belongs_on(std::string_view category, LaneKind lane);

}  // namespace rankscope::analyzer
