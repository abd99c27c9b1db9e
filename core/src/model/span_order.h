// The order of spans in a Run: by lane, begin, and the longer first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankscope/core/model/span.h"

namespace rankscope {

/// order[new] = old. Equal spans keep their order. Linear in the number of spans: recordings hold tens of millions,
/// which arrive in the order of their ends, lane by lane; lanes are sorted side by side.
[[nodiscard]] std::vector<std::uint32_t> span_order(std::span<const Span> spans, std::size_t lane_count);

}  // namespace rankscope
