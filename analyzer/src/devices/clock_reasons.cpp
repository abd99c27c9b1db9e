#include "devices/parts.h"

#include <algorithm>
#include <array>

namespace rankscope::analyzer {
namespace {

struct ReasonInfo {
  ClockReason reason;
  std::uint64_t bit;  ///< nvmlClocksEventReason… of nvml.h, nvmlClocksThrottleReason… before CUDA 12.2
  bool throttling;
  std::string_view name;
  std::string_view words;
};

constexpr std::array reason_table{
    ReasonInfo{ClockReason::gpu_idle, 0x1, false, "gpu_idle", "idle"},
    ReasonInfo{ClockReason::applications_clocks_setting, 0x2, false, "applications_clocks_setting",
               "clocks set by a user"},
    ReasonInfo{ClockReason::sw_power_cap, 0x4, true, "sw_power_cap", "power cap"},
    ReasonInfo{ClockReason::hw_slowdown, 0x8, true, "hw_slowdown", "hardware slowdown"},
    ReasonInfo{ClockReason::sync_boost, 0x10, false, "sync_boost", "sync boost"},
    ReasonInfo{ClockReason::sw_thermal_slowdown, 0x20, true, "sw_thermal_slowdown", "thermal slowdown"},
    ReasonInfo{ClockReason::hw_thermal_slowdown, 0x40, true, "hw_thermal_slowdown", "hardware thermal slowdown"},
    ReasonInfo{ClockReason::hw_power_brake_slowdown, 0x80, true, "hw_power_brake_slowdown", "power brake"},
    ReasonInfo{ClockReason::display_clock_setting, 0x100, false, "display_clock_setting", "display clocks"},
    ReasonInfo{ClockReason::unknown, ~std::uint64_t{0x1FF}, false, "unknown", "an unknown reason"},
};
static_assert(reason_table.size() == clock_reason_count);

const ReasonInfo& info_of(ClockReason reason) { return reason_table[static_cast<std::size_t>(reason)]; }

/// NVML's values fit a double exactly up to 2^53, far above the bits that it has.
std::uint64_t bits_of(double sample) {
  constexpr double largest = 1e15;
  return sample > 0 && sample < largest ? static_cast<std::uint64_t>(sample) : 0;
}

}  // namespace

std::string_view name_of(ClockReason reason) { return info_of(reason).name; }
std::string_view words_of(ClockReason reason) { return info_of(reason).words; }
bool is_throttling(ClockReason reason) { return info_of(reason).throttling; }

double Throttling::share_of(ClockReason reason) const {
  const auto found = std::ranges::find(reasons, reason, &ReasonShare::reason);
  return found == reasons.end() ? 0 : found->share;
}

std::optional<ReasonShare> Throttling::main_reason() const {
  std::optional<ReasonShare> main;
  for (const ReasonShare& row : reasons)  // what NVML tells in higher bits is a cause of "hardware slowdown"
    if (is_throttling(row.reason) && (!main || row.share >= main->share)) main = row;
  return main;
}

std::vector<ClockReason> clock_reasons(std::uint64_t bits) {
  std::vector<ClockReason> reasons;
  for (const ReasonInfo& info : reason_table)
    if ((bits & info.bit) != 0) reasons.push_back(info.reason);
  return reasons;
}

Throttling throttling_of(std::span<const double> samples) {
  std::array<std::size_t, clock_reason_count> seen{};
  std::size_t throttled = 0;
  for (const double sample : samples) {
    const std::vector<ClockReason> reasons = clock_reasons(bits_of(sample));
    for (const ClockReason reason : reasons) ++seen[static_cast<std::size_t>(reason)];
    throttled += std::ranges::any_of(reasons, is_throttling) ? 1U : 0U;
  }
  const auto share = [&](std::size_t count) {
    return static_cast<double>(count) / static_cast<double>(samples.size());
  };
  Throttling throttling{.share = share(throttled), .reasons = {}};
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i] > 0) throttling.reasons.push_back({static_cast<ClockReason>(i), share(seen[i])});
  return throttling;
}

}  // namespace rankscope::analyzer
