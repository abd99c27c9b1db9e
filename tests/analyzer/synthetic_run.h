// Text runs of data-parallel training with known faults and seeded noise.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::testing {

/// What one rank does in one step, in ms.
struct StepPlan {
  double data = 5;
  double stall = 0;  ///< the host stands still, outside of all spans
  double forward = 30;
  double backward = 60;
  double comm_delay = 0;  ///< between enqueued and started of the last bucket
  double transfer = 8;    ///< of each of two buckets
  double optimizer = 5;
};

struct SyntheticRun {
  std::uint32_t ranks = 4;
  std::int64_t steps = 20;
  double noise = 0.005;  ///< relative sigma of each part
  std::uint64_t seed = 1;
  std::string head = "@run clock=same_host clock_error=1000\n";
  std::function<void(StepPlan& plan, std::uint32_t rank, std::int64_t step)> fault = [](StepPlan&, std::uint32_t,
                                                                                        std::int64_t) {};
};

/// The run as text: per step the spans data, forward, backward (one operator each), wait and optimizer on the main
/// thread, and two allreduce buckets on the communication thread, which end on all ranks together.
[[nodiscard]] std::string text_of(const SyntheticRun& plan);
[[nodiscard]] std::shared_ptr<const Run> make(const SyntheticRun& plan);
/// Ends the test program with the message if the text is wrong.
[[nodiscard]] std::shared_ptr<const Run> run_of(std::string_view text);

}  // namespace rankscope::testing
