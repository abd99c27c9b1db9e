#include "rankscope/trainer/plan/device_use.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "rankscope/core/format.h"
#include "rankscope/core/median.h"

namespace rankscope::trainer {
namespace {

constexpr double least_share = 0.01;  // of the median

double median_seconds(std::span<const DeviceTime> devices) {
  std::vector<double> seconds;
  for (const DeviceTime& use : devices) seconds.push_back(use.busy_seconds);
  return median(std::move(seconds));
}

}  // namespace

std::string use_text(std::span<const DeviceTime> devices) {
  const auto [least, most] = std::ranges::minmax(devices, {}, &DeviceTime::busy_seconds);
  const std::string from = format("{:.2f}", least.busy_seconds);
  const std::string to = format("{:.2f}", most.busy_seconds);
  return format("all {} computed, each for {} s of CPU time", counted(devices.size(), "device"),
                from == to ? to : format("{} to {}", from, to));
}

std::string unused_text(std::span<const DeviceTime> devices) {
  const double median = median_seconds(devices);
  std::string unused;
  for (const DeviceTime& use : devices) {
    if (use.busy_seconds >= least_share * median) continue;
    unused += format("{}device {} of rank {}", unused.empty() ? "" : ", ", use.device, use.rank);
  }
  if (unused.empty()) return {};
  return format(
      "{} had nothing to compute (the median of all devices is {:.2f} s of CPU time): use fewer devices, or give each "
      "a share of the batch or of the layers",
      unused, median);
}

}  // namespace rankscope::trainer
