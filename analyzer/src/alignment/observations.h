// What tells of clocks: the ends of operations in which nobody may end before everybody started (metrics.md 7.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer::clocks {

/// 36 years: differences and sums of two such times still fit. No clock shows more.
inline constexpr std::int64_t farthest_ns = std::int64_t{1} << 60;

/// One rank's part of an operation.
struct Part {
  std::uint32_t rank_row = 0;  ///< in Run::ranks()
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool on_device = false;  ///< its times were taken by an accelerator
};

/// Operations with the parts of at least two ranks; operation k has parts[firsts[k]] to parts[firsts[k + 1]], by rank.
struct Observations {
  std::vector<Part> parts;
  std::vector<std::size_t> firsts{0};
  bool only_guessed = false;  ///< nothing is here because sequence numbers are missing: which parts are one is a guess

  [[nodiscard]] std::size_t operations() const { return firsts.size() - 1; }
  [[nodiscard]] std::span<const Part> operation(std::size_t k) const {
    return std::span{parts}.subspan(firsts[k], firsts[k + 1] - firsts[k]);
  }
};

/// Left out: first operations (they set up connections), those that some rank did not finish, long ones where there
/// are enough short ones, times that no clock shows, and groups that lack sequence numbers.
[[nodiscard]] Observations observe(const Run& run);

}  // namespace rankscope::analyzer::clocks
