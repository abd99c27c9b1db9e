#include "stragglers/parts.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <span>

#include "devices/sampled_gpus.h"
#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "steps/sample_windows.h"

namespace rankscope::analyzer {
namespace {

constexpr double clearly_lower = 0.95;     // of the others' clock; below it GPUs of one model do not differ by chance
constexpr double often = 0.10;             // share of samples from which on a reason is named
constexpr double more_than_others = 2;     // times their share
constexpr double most_of_the_time = 0.50;  // for clocks that somebody has set: they hold all the time

/// What NVML reported about one GPU.
struct Sampled {
  UsedGpu gpu;
  NvmlCounters counters;
};

/// What the counters of a slow rank's GPU say.
struct Evidence {
  std::string words;
  SlowDevice cause = SlowDevice::low_clock;
  bool proves = false;  ///< the other GPUs are not so
  double clock = 1;     ///< of that of the others
};

std::vector<Sampled> sampled_of(const Run& run, const SampledGpus& gpus, RankId rank,
                                std::span<const TimeRange> windows) {
  std::vector<Sampled> sampled;
  for (UsedGpu& gpu : used_gpus(run, rank))
    if (auto counters = gpus.nvml_of(gpu, windows)) sampled.push_back({std::move(gpu), std::move(*counters)});
  return sampled;
}

std::optional<double> median_clock(std::span<const Sampled> gpus) {
  std::vector<double> clocks;
  for (const Sampled& one : gpus)
    if (one.counters.sm_clock_mhz) clocks.push_back(one.counters.sm_clock_mhz->median);
  if (clocks.empty()) return std::nullopt;
  return median(std::move(clocks));
}

std::optional<double> median_share(std::span<const Sampled> gpus, ClockReason reason) {
  std::vector<double> shares;
  for (const Sampled& one : gpus)
    if (one.counters.throttling) shares.push_back(one.counters.throttling->share_of(reason));
  if (shares.empty()) return std::nullopt;
  return median(std::move(shares));
}

SlowDevice cause_of(ClockReason reason) {
  switch (reason) {
    case ClockReason::sw_thermal_slowdown:
    case ClockReason::hw_thermal_slowdown:
      return SlowDevice::too_hot;
    case ClockReason::sw_power_cap:
      return SlowDevice::power_limit;
    case ClockReason::hw_slowdown:
    case ClockReason::hw_power_brake_slowdown:
      return SlowDevice::hardware;
    case ClockReason::applications_clocks_setting:
      return SlowDevice::clocks_set;
    case ClockReason::gpu_idle:
    case ClockReason::sync_boost:
    case ClockReason::display_clock_setting:
    case ClockReason::unknown:
      return SlowDevice::low_clock;
  }
  return SlowDevice::low_clock;
}

/// Why its clock is low, if NVML says so often enough.
std::optional<ReasonShare> reason_of(const Sampled& own) {
  if (!own.counters.throttling) return std::nullopt;
  if (const auto main = own.counters.throttling->main_reason(); main && main->share >= often) return main;
  const double set = own.counters.throttling->share_of(ClockReason::applications_clocks_setting);
  if (set < most_of_the_time) return std::nullopt;
  return ReasonShare{ClockReason::applications_clocks_setting, set};
}

/// "power cap in 83 % of its samples (peers: 5 %)"
std::string reason_text(const ReasonShare& reason, std::optional<double> others) {
  std::string text = format("{} in {:.0f} % of its samples", words_of(reason.reason), 100 * reason.share);
  if (others) text += format(" (peers: {:.0f} %)", 100 * *others);
  return text;
}

/// Compares a GPU with those of other ranks that are of the same model.
std::optional<Evidence> compare(const Sampled& own, std::span<const Sampled> others) {
  Evidence evidence;
  const auto reason = reason_of(own);
  const auto others_share = reason ? median_share(others, reason->reason) : std::nullopt;
  if (reason) evidence.cause = cause_of(reason->reason);
  const auto others_mhz = median_clock(others);
  if (own.counters.sm_clock_mhz && others_mhz && *others_mhz > 0) {
    evidence.clock = own.counters.sm_clock_mhz->median / *others_mhz;
    if (evidence.clock > clearly_lower) return std::nullopt;  // whatever NVML names, it costs nothing
    evidence.proves = true;
    evidence.words = format("its GPU ran at {:.0f} MHz, {} at {:.0f} MHz (medians)", own.counters.sm_clock_mhz->median,
                            others.size() == 1 ? "the other" : "the others", *others_mhz);
    if (reason) evidence.words += ": " + reason_text(*reason, others_share);
    return evidence;
  }
  if (!reason || !is_throttling(reason->reason)) return std::nullopt;
  evidence.words = "its GPU was throttled: " + reason_text(*reason, others_share);
  if (others_share && reason->share < more_than_others * *others_share) return std::nullopt;
  if (others_share)
    evidence.proves = true;
  else
    evidence.words += "; it is not known whether the GPUs of the other ranks were throttled";
  return evidence;
}

std::optional<Evidence> evidence_on(const Run& run, const SampledGpus& gpus, const StepsSection& steps,
                                    const Straggler& slow) {
  const std::vector<Sampled> own = sampled_of(run, gpus, slow.rank, slow_windows(steps, slow.rank, slow));
  if (own.empty()) return std::nullopt;
  std::set<std::string> seen;  // ranks may share a GPU: it is compared once, and with no part of itself
  for (const Sampled& one : own) seen.insert(one.gpu.uuid);
  std::vector<Sampled> others;
  for (const RankId rank : run.ranks())
    for (Sampled& one : sampled_of(run, gpus, rank, slow_windows(steps, rank, slow)))
      if (seen.insert(one.gpu.uuid).second) others.push_back(std::move(one));
  std::optional<Evidence> worst;
  for (const Sampled& one : own) {
    std::vector<Sampled> alike;
    std::ranges::copy_if(others, std::back_inserter(alike),
                         [&one](const Sampled& other) { return other.gpu.name == one.gpu.name; });
    auto evidence = compare(one, alike);
    if (evidence && (!worst || evidence->clock < worst->clock)) worst = std::move(evidence);
  }
  return worst;
}

}  // namespace

std::vector<TimeRange> slow_windows(const StepsSection& steps, RankId rank, const Straggler& slow) {
  std::vector<TimeRange> windows;
  for (const StepWindow& window : windows_of(steps, rank)) {
    const bool before = slow.since_step && window.index < *slow.since_step;
    const bool behind = slow.until_step && window.index > *slow.until_step;
    if (steps.counted(window.index) && !before && !behind) windows.push_back(window.window);
  }
  return windows;
}

void add_device_evidence(const Run& run, const StepsSection& steps, StragglersSection& section) {
  const auto computes_slowly = [](const Straggler& row) {
    return row.kind == StragglerKind::compute && row.persistence == Persistence::persistent;
  };
  if (std::ranges::none_of(section.rows, computes_slowly)) return;
  const SampledGpus gpus(run);
  for (Straggler& row : section.rows) {
    if (!computes_slowly(row)) continue;
    const auto evidence = evidence_on(run, gpus, steps, row);
    if (!evidence) continue;
    row.evidence += "; " + evidence->words;
    row.device = evidence->cause;
    const bool of_few = row.certainty == Certainty::of_two || row.certainty == Certainty::of_three;
    if (evidence->proves && of_few) row.certainty = Certainty::fact;
  }
}

}  // namespace rankscope::analyzer
