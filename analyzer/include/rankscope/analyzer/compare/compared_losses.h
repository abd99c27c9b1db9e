// What the recording of a run lacks, and how its job ended if not as it should (metrics.md 17.4).
#pragma once

#include <cstdint>
#include <string>

namespace rankscope::analyzer {

/// Whether a loss concerns the steps and ranks that are compared.
enum class LossReach : std::uint8_t { compared, elsewhere };

/// Something that is missing, or an end of the job that was none.
struct Loss {
  std::string id;    ///< of a counter of data quality, or ended_badly, still_running, steps_missing
  std::string what;  ///< "1 segment file of rank 3 was cut off"
  LossReach reach = LossReach::compared;
  bool operator==(const Loss&) const = default;
};

/// Whether runs are judged although what is compared is not intact.
enum class Losses : std::uint8_t { refused, accepted };

}  // namespace rankscope::analyzer
