// Text runs of operations that end together, seen on clocks that are off.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::testing {

/// What one clock does to a true time.
struct SimulatedClock {
  std::int64_t offset_ns = 0;
  double drift_ppm = 0;
  std::function<std::int64_t(std::int64_t time)> more = [](std::int64_t) { return std::int64_t{0}; };
};

struct SimulatedRun {
  std::vector<SimulatedClock> clocks;  ///< one rank on each
  std::int64_t operations = 200;
  std::int64_t span_ns = 10'000'000'000;
  double exit_noise_ns = 3000;
  std::uint64_t seed = 1;
  std::function<std::int64_t(std::uint32_t rank, std::int64_t operation)> late = [](std::uint32_t, std::int64_t) {
    return std::int64_t{0};
  };
  std::function<std::int64_t(std::uint32_t rank, std::int64_t operation)> exit = [](std::uint32_t, std::int64_t) {
    return std::int64_t{0};
  };
  std::string head = "@run clock=wall_clock clock_error=10000000\n";
  bool hosts_known = true;  ///< named "h0", "h1", ...
  bool on_device = false;   ///< operations run on streams
};

/// Every rank starts an operation 100 us after a moment that all share, or later, and ends 300 us after the last start.
/// Each one has a mark at that moment, so that marks of one moment show how well clocks agree.
[[nodiscard]] std::string text_of(const SimulatedRun& plan);
[[nodiscard]] std::shared_ptr<const Run> make(const SimulatedRun& plan);

/// Farthest that marks of one moment lie apart, of all pairs of ranks.
[[nodiscard]] std::int64_t worst_disagreement(const Run& run);

}  // namespace rankscope::testing
