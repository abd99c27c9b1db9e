// Text runs of a pipeline as torch.profiler shows it on Gloo: sends and receives name no partner, and last until the
// program has waited for them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::testing {

/// A network in stages, one per rank, trained with 1F1B as in torch.distributed.pipelining.
struct TracedPipeline {
  std::uint32_t ranks = 4;
  std::int64_t steps = 3;
  std::int64_t micro_batches = 4;
  std::int64_t latency_ns = 150'000;  ///< from the start of a send to the end of a receive that waits for it, at least
  std::int64_t most_late_ns = 300'000;  ///< what is added to that, at most
  std::uint64_t seed = 1;
  std::vector<std::int64_t> offsets_ns{};  ///< of the clock of each rank; empty: one clock
  bool knows_sizes = false;
  /// How long a forward pass of a micro-batch sleeps, and how long it computes after that.
  std::function<std::int64_t(std::uint32_t rank)> sleep_ns = [](std::uint32_t) { return std::int64_t{12'500'000}; };
  std::function<std::int64_t(std::uint32_t rank)> compute_ns = [](std::uint32_t) { return std::int64_t{300'000}; };
};

[[nodiscard]] std::string text_of(const TracedPipeline& plan);
[[nodiscard]] std::shared_ptr<const Run> make(const TracedPipeline& plan);

}  // namespace rankscope::testing
