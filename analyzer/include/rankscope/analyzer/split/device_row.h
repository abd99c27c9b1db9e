// What was sampled of the GPUs of a rank, over its counted windows (metrics.md 2.8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/section.h"

namespace rankscope::analyzer {

/// Why NVML says that clocks are lower than they could be, in the order of its bits.
enum class ClockReason : std::uint8_t {
  gpu_idle,
  applications_clocks_setting,
  sw_power_cap,
  hw_slowdown,
  sync_boost,
  sw_thermal_slowdown,
  hw_thermal_slowdown,
  hw_power_brake_slowdown,
  display_clock_setting,
  unknown,  ///< a bit that is not known here
};
inline constexpr std::size_t clock_reason_count = 10;
[[nodiscard]] std::string_view name_of(ClockReason reason);
/// For people: "power cap".
[[nodiscard]] std::string_view words_of(ClockReason reason);
/// True for what slows a GPU that has work to do: too hot, or too much power. Idle GPUs and clocks that somebody has
/// set are not throttled.
[[nodiscard]] bool is_throttling(ClockReason reason);

/// How often a GPU gave one reason for its clock; it can give several at once, so shares can exceed 1 together.
struct ReasonShare {
  ClockReason reason = ClockReason::unknown;
  double share = 0;  ///< of the samples
};

/// The reasons that NVML gave for the clock of a GPU, and how often one of them was throttling.
struct Throttling {
  double share = 0;                  ///< of the samples with a reason that is throttling
  std::vector<ReasonShare> reasons;  ///< that were seen, throttling or not, by their bits

  [[nodiscard]] double share_of(ClockReason reason) const;
  /// The most frequent one that is throttling, of equal ones the more exact one; nothing where none was seen.
  [[nodiscard]] std::optional<ReasonShare> main_reason() const;
};

/// Of a quantity that goes up and down.
struct Spread {
  double median = 0;
  double most = 0;
};

/// What NVML reported about a whole GPU, whoever used it.
struct NvmlCounters {
  Ratio busy;         ///< share of time with any kernel running, one that waits in NCCL too
  Ratio memory_busy;  ///< share of time in which memory was read or written
  Section<Spread> sm_clock_mhz = unavailable("not sampled");
  Section<Spread> memory_clock_mhz = unavailable("not sampled");
  Section<Spread> power_watts = unavailable("not sampled");
  Section<Spread> temperature_celsius = unavailable("not sampled");
  Section<Spread> memory_used_bytes = unavailable("not sampled");
  Section<Throttling> throttling = unavailable("not sampled");
  Ratio energy_joules;  ///< of the windows, as far as they lie between two samples
  Ratio energy_covers;  ///< how much of the windows that is, as a share
  Ratio ecc_uncorrected_errors;
  Ratio pcie_sent_bytes_per_second;
  Ratio pcie_received_bytes_per_second;
  Ratio nvlink_sent_bytes_per_second;
  Ratio nvlink_received_bytes_per_second;
};

/// Means of what the GPU's own counters showed (PM sampling).
struct PmCounters {
  Ratio sm_active;
  Ratio tensor_active;
  Ratio dram_read;
  Ratio dram_write;
  Ratio pcie_active;
  Ratio nvlink_received_bytes_per_second;
  Ratio nvlink_sent_bytes_per_second;
  Ratio pcie_read_bytes_per_second;
  Ratio pcie_write_bytes_per_second;
};

/// A GPU that a rank used.
struct DeviceRow {
  std::int32_t ordinal = -1;  ///< its number in the rank's process; -1 = not recorded
  std::string name{};         ///< product; empty: not recorded
  std::string uuid{};         ///< empty: not recorded, or not certain
  std::string why_no_uuid{};  ///< then
  Section<NvmlCounters> nvml = unavailable("not sampled");
  Section<PmCounters> pm = unavailable("not sampled");
};

}  // namespace rankscope::analyzer
