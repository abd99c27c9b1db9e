// Where the time went on the way from all of it down to the model at the peak (metrics.md 15.4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::analyzer {

/// Rungs of the ladder from the whole time down to what the model needs at the peak.
enum class LadderStep : std::uint8_t {
  idle_host,
  idle_sync,
  idle_data,
  idle_kernel_gap,
  idle_other,
  memory,
  exposed_unsplit,
  exposed_wait,
  exposed_transfer,
  kernels_not_counted,  ///< compute time outside of counted operators
  kernels_below_peak,   ///< counted kernels, beyond their time at the peak
  kernels,              ///< both together, where they cannot be told apart
  model,                ///< at the peak: MFU_E
  compute,              ///< in the place of all below it, where FLOPs or peak are unknown
};
[[nodiscard]] std::string_view name_of(LadderStep step);

/// What one rung takes off the whole time.
struct LadderPart {
  LadderStep step = LadderStep::compute;
  std::int64_t ns = 0;
};

/// The parts add up to the whole: the windows of all ranks.
struct Ladder {
  std::int64_t whole_ns = 0;
  std::vector<LadderPart> parts;
  std::string why_at_compute;  ///< set where it ends at the compute time
};

}  // namespace rankscope::analyzer
