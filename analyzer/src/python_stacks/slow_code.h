// The function in which one rank loses the most time against its peers (metrics.md 9.9).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "rankscope/analyzer/python_stacks/section.h"

namespace rankscope::analyzer {

/// Nothing where no line or function has clearly more samples than on the peers, or its difference is below `least_ns`
/// per step.
[[nodiscard]] std::optional<SlowCode> slow_code(const RankCode& own, std::span<const RankCode> peers,
                                                std::span<const CodePhase> phases, std::int64_t least_ns);

/// "Tokens.__getitem__, data.py:31: 80.0 ms per step, on its peers 0.40 ms"
[[nodiscard]] std::string slow_code_text(const SlowCode& code);

}  // namespace rankscope::analyzer
