#include "devices/parts.h"

#include <span>
#include <string>

#include "devices/sampled_gpus.h"
#include "steps/counted_windows.h"

namespace rankscope::analyzer {
namespace {

/// Of the devices that have it; of none of them the reason of the first.
template <class Counters>
Ratio mean_over(std::span<const DeviceRow> devices, Section<Counters> DeviceRow::*source, Ratio Counters::*field) {
  double sum = 0;
  std::size_t count = 0;
  std::string why;
  for (const DeviceRow& device : devices) {
    const Section<Counters>& counters = device.*source;
    if (counters && ((*counters).*field).value) {
      sum += *((*counters).*field).value;
      ++count;
    } else if (why.empty()) {
      why = counters ? ((*counters).*field).why : counters.error().why;
    }
  }
  if (count == 0) return {.value = std::nullopt, .why = why.empty() ? "not sampled" : why};
  return {.value = sum / static_cast<double>(count), .why = {}};
}

}  // namespace

void describe_devices(const Run& run, const Section<StepsSection>& steps, std::vector<RankRow>& rows) {
  const SampledGpus sampled(run);
  for (RankRow& row : rows) {
    const CountedWindows windows = counted_windows(run, row.rank, steps);
    for (const UsedGpu& gpu : used_gpus(run, row.rank))
      row.devices.push_back({.ordinal = gpu.ordinal,
                             .name = gpu.name,
                             .uuid = gpu.uuid,
                             .why_no_uuid = std::string{why_no_uuid(gpu)},
                             .nvml = sampled.nvml_of(gpu, windows.ranges),
                             .pm = sampled.pm_of(gpu, windows.ranges)});
    row.sm_active = mean_over(row.devices, &DeviceRow::pm, &PmCounters::sm_active);
    row.nvml_busy = mean_over(row.devices, &DeviceRow::nvml, &NvmlCounters::busy);
  }
}

}  // namespace rankscope::analyzer
