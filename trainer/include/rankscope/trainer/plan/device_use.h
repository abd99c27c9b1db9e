// Whether every device that a run was given has really computed.
#pragma once

#include <span>
#include <string>

namespace rankscope::trainer {

/// How long one device of a rank computed.
struct DeviceTime {
  int rank = 0;
  int device = 0;           ///< of the rank, from 0
  double busy_seconds = 0;  ///< of CPU, over all steps
};

/// "all 4 devices computed, 1.02 to 1.10 s of CPU time each"
[[nodiscard]] std::string use_text(std::span<const DeviceTime> devices);

/// A sentence about those that have computed less than a hundredth of the median; "" where there are none.
[[nodiscard]] std::string unused_text(std::span<const DeviceTime> devices);

}  // namespace rankscope::trainer
