// What is wrong with GPUs themselves (metrics.md 2.8).

#include <algorithm>
#include <array>
#include <set>

#include "devices/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "steps/parts.h"

namespace rankscope::analyzer {
namespace {

/// A power cap alone is how a GPU runs that is used well.
constexpr std::array slowdown_reasons{ClockReason::hw_slowdown, ClockReason::sw_thermal_slowdown,
                                      ClockReason::hw_thermal_slowdown, ClockReason::hw_power_brake_slowdown};

/// The one that was seen most often, of equal ones the more exact one.
ReasonShare main_slowdown_reason(const Throttling& throttling) {
  ReasonShare most{slowdown_reasons.front(), 0};
  for (const ClockReason reason : slowdown_reasons)
    if (const double share = throttling.share_of(reason); share >= most.share) most = {reason, share};
  return most;
}

bool is_told_as_straggler(const Report& report, RankId rank) {
  return report.stragglers && std::ranges::any_of(report.stragglers->rows, [rank](const Straggler& row) {
           return row.rank == rank && row.device;
         });
}

std::string clock_text(const NvmlCounters& nvml) {
  if (!nvml.sm_clock_mhz) return {};
  return format("; SM clock: median {:.0f} MHz, highest {:.0f} MHz", nvml.sm_clock_mhz->median,
                nvml.sm_clock_mhz->most);
}

std::string heat_text(const NvmlCounters& nvml) {
  return nvml.temperature_celsius ? format(", at up to {:.0f} °C", nvml.temperature_celsius->most) : std::string{};
}

}  // namespace

void judge_throttling(const RuleContext& context, std::vector<Finding>& findings) {
  if (!context.report.rank_rows) return;
  struct {
    RankId rank;
    const DeviceRow* device = nullptr;
    ReasonShare reason{};
  } worst;
  std::set<std::string> gpus;
  for (const RankRow& row : *context.report.rank_rows) {
    if (!is_asked_for(context.options, row.rank) || is_told_as_straggler(context.report, row.rank)) continue;
    for (const DeviceRow& device : row.devices) {
      if (!device.nvml || !device.nvml->throttling) continue;
      const ReasonShare reason = main_slowdown_reason(*device.nvml->throttling);
      if (reason.share < throttled_limits.minor) continue;
      gpus.insert(device.uuid);
      if (reason.share > worst.reason.share) worst = {row.rank, &device, reason};
    }
  }
  if (worst.device == nullptr) return;
  Finding finding;
  finding.id = "gpu_throttled";
  finding.severity = severity_of(worst.reason.share, throttled_limits);
  finding.rank = worst.rank;
  finding.title = format("the GPU of rank {} is slowed down for {} of the time ({})", worst.rank.value,
                         percent_of(worst.reason.share), words_of(worst.reason.reason));
  finding.evidence =
      format("NVML reports {} in {} of the samples of this GPU{}{}", words_of(worst.reason.reason),
             percent_of(worst.reason.share), heat_text(*worst.device->nvml), clock_text(*worst.device->nvml));
  if (gpus.size() > 1) finding.evidence += format("; {} GPUs are affected, this one the most", gpus.size());
  finding.advice =
      "Check the cooling and the power supply of the GPU's server (nvidia-smi -q -d TEMPERATURE,POWER,PERFORMANCE).";
  finding.why_no_gain = "it was not measured how much faster the kernels of this GPU would be at the full clock";
  findings.push_back(std::move(finding));
}

}  // namespace rankscope::analyzer
