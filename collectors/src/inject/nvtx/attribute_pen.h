// Where the attributes of an event go.
#pragma once

#include <cstdint>
#include <string_view>

#include "rankscope/core/recording/segment_writer.h"

namespace rankscope::inject {

/// The pen of the thread, and what it describes: the innermost span, the latest mark, or a range.
struct AttributePen {
  recording::ThreadWriter& pen;
  recording::Owner owner{};

  void attribute(std::string_view key, std::int64_t value) const { pen.attribute(key, value, owner); }
  void attribute(std::string_view key, std::string_view value) const { pen.attribute(key, value, owner); }
};

}  // namespace rankscope::inject
