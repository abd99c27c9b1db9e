// Sums shown as means per step and rank.
#pragma once

#include <cstdint>
#include <string>

namespace rankscope::analyzer {

/// "0.25", "5.2", "1250": two digits below 1, one decimal, and none from 100 on.
[[nodiscard]] std::string mean_count(std::int64_t sum, std::int64_t parts);
/// Milliseconds with three decimals, rounded.
[[nodiscard]] std::string mean_ms(std::int64_t sum_ns, std::int64_t parts);
/// "31.4 %"; "–" of nothing.
[[nodiscard]] std::string share_text(std::int64_t part, std::int64_t whole);

}  // namespace rankscope::analyzer
