// How much of a long job is kept as events: `record --keep`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"
#include "rankscope/core/time.h"

namespace rankscope::collectors {

/// Events that are older, or beyond the size, are replaced by sums per step.
struct KeepLimit {
  std::optional<nanoseconds> period{};
  std::optional<std::uint64_t> bytes{};  ///< of all recorders of one node together
  bool operator==(const KeepLimit&) const = default;
};

/// Reads a period ("90s", "10m", "2h", "1d"), a size ("500MiB", "4GiB"), or both, separated by a comma. `usage` errors
/// name --keep.
[[nodiscard]] Result<KeepLimit> keep_limit_from(std::string_view text);

/// "4.0 GiB"
[[nodiscard]] std::string gib_text(std::uint64_t bytes);

}  // namespace rankscope::collectors
