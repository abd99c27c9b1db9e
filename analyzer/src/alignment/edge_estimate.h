// How two clocks stand to each other, by the operations they share (metrics.md 7.2).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "alignment/edges.h"

namespace rankscope::analyzer::clocks {

inline constexpr std::size_t least_operations = 20;

/// Clock b as seen from clock a. When a shows `middle_ns`, b shows middle_ns + ahead_ns + ahead_fine_ns.
struct EdgeEstimate {
  std::size_t operations = 0;
  std::int64_t middle_ns = 0;
  std::int64_t ahead_ns = 0;
  double ahead_fine_ns = 0;
  double rate = 0;            ///< what b gains on a
  bool rate_known = false;    ///< else it is 0
  double rate_error = 0;      ///< at most, with very few exceptions (three sigma)
  double sigma_ns = 0;        ///< robust, of single operations around the line
  double ahead_error_ns = 0;  ///< of ahead_ns: three sigma, or what the order of the values allows where that is more
  double wander_ns = 0;       ///< how far stretches of time lie beside the line: it bends, jumps, or the ends disagree
  std::int64_t half_span_ns = 0;
  std::string doubt;  ///< why it is of low quality; empty: it is not

  /// Largest error of a time between `begin` and `end` of clock a.
  [[nodiscard]] double error_ns(std::int64_t begin, std::int64_t end) const;
};

/// `operations` ascend by end_a; there must be at least `least_operations`.
[[nodiscard]] EdgeEstimate estimate(std::span<const Shared> operations);

}  // namespace rankscope::analyzer::clocks
