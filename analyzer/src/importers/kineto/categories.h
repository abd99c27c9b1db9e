// Kineto's categories of every year, and what they are in a Run.
#pragma once

#include <cstdint>
#include <string_view>

#include "rankscope/core/model/span.h"

namespace rankscope::analyzer::kineto {

/// Which row of the timeline an event belongs to. Its category decides that, never its pid.
enum class LaneClass : std::uint8_t { thread, stream, annotation, overhead, profiler };

enum class Work : std::uint8_t {
  host_range,  ///< operator or annotation: its kind follows from its name
  host_call,   ///< into CUDA's runtime or driver, or HIP's
  kernel,
  copy,
  other,
};

struct Category {
  std::string_view name;
  LaneClass lane;
  SpanKind kind;  ///< unless the name tells more
  Work work;
  bool keep_name = false;  ///< the kind does not tell the category: it is kept as an attribute
};

/// The row of a category, or of how it ends ("..._memcpy"); that of unknown ones has an empty name.
[[nodiscard]] const Category& category_from(std::string_view name);

/// The device that calls of a category other than CUDA's and HIP's are made to: "xpu_runtime" -> "XPU".
[[nodiscard]] std::string_view device_called(std::string_view category);

/// What the name of an operator or annotation makes it: step, data, api, comm (gloo:, mpi:), optimizer, or `otherwise`.
[[nodiscard]] SpanKind kind_of_range(std::string_view name, SpanKind otherwise);

inline constexpr std::string_view step_prefix = "ProfilerStep#";

}  // namespace rankscope::analyzer::kineto
