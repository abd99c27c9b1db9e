// How many ranks a run may have.
#pragma once

#include <cstdint>

namespace rankscope {

/// Ranks are below it; what claims more is damaged.
inline constexpr std::int64_t most_ranks = 1 << 24;

}  // namespace rankscope
