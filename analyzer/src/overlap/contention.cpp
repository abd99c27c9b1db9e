#include "overlap/contention.h"

#include <algorithm>

#include "kernels/kernel_names.h"
#include "math/statistics.h"
#include "split/device_work.h"
#include "words/text_of.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t least_launches = 10;  // of each kind
constexpr double beside_share = 0.9;
constexpr double alone_share = 0.1;
constexpr double least_slowdown_shown = 1.05;

}  // namespace

bool Contention::Durations::enough() const { return beside.size() >= least_launches && alone.size() >= least_launches; }

void Contention::add(RankId rank, const CountedWindows& windows, const Layers& layers) {
  const IntervalSet communicating = union_of(layers, communication_layers);
  const IntervalSet open = IntervalSet::from(windows.ranges);
  Inside counted{open};
  Inside beside{communicating};
  for (const Activity& activity : activities_of(run_, rank)) {
    const std::int64_t duration = activity.time.length().count();
    if (activity.kind != ActivityClass::compute || duration <= 0) continue;
    if (windows.steps > 0 && !counted.contains(activity.time.begin)) continue;
    const double share = static_cast<double>(beside.length_ns(activity.time)) / static_cast<double>(duration);
    Durations& durations = by_key_[key_of_.with_shape(activity)];
    if (share >= beside_share) durations.beside.push_back(duration);
    if (share <= alone_share) durations.alone.push_back(duration);
  }
}

std::vector<ContendedKernel> Contention::slower() const {
  std::vector<ContendedKernel> kernels;
  for (const auto& [key, durations] : by_key_) {
    if (!durations.enough()) continue;
    const std::string_view text = run_.text(key.name);
    const ContendedKernel kernel{std::string{text},
                                 short_kernel_name(text),
                                 text_of(run_, key.grid),
                                 text_of(run_, key.block),
                                 static_cast<std::int64_t>(durations.beside.size()),
                                 static_cast<std::int64_t>(durations.alone.size()),
                                 median(durations.beside),
                                 median(durations.alone)};
    if (kernel.ratio() >= least_slowdown_shown) kernels.push_back(kernel);
  }
  std::ranges::stable_sort(
      kernels, [](const ContendedKernel& a, const ContendedKernel& b) { return a.cost_ns() > b.cost_ns(); });
  return kernels;
}

std::string Contention::why_none_compared() const {
  if (by_key_.empty()) return "no kernels beside communication were recorded";
  const bool any = std::ranges::any_of(by_key_, [](const auto& entry) { return entry.second.enough(); });
  return any ? "" : "no kernel has 10 launches beside communication and 10 alone";
}

}  // namespace rankscope::analyzer
