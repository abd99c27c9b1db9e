// What samples say of the time inside windows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rankscope/core/model/run_parts.h"
#include "steps/find.h"

namespace rankscope::analyzer {

// Samples are by time; windows ascend and do not overlap.

/// The values that were sampled inside the windows.
[[nodiscard]] std::vector<double> values_inside(std::span<const CounterSample> samples,
                                                std::span<const TimeRange> windows);

/// How much a total grew inside the windows.
struct Growth {
  double amount = 0;
  std::int64_t covered_ns = 0;  ///< time of the windows that lies between two samples
};

/// A total is taken to grow evenly between two samples; where it falls, it was set back, and that time is not covered.
[[nodiscard]] Growth growth_inside(std::span<const CounterSample> samples, std::span<const TimeRange> windows);

/// Of a total of events, which are not divided: what was there at each sample inside the windows and not at the one
/// before. Nothing: no sample inside them has one before.
[[nodiscard]] std::optional<double> events_inside(std::span<const CounterSample> samples,
                                                  std::span<const TimeRange> windows);

/// Values of one counter of a rank's process, in order of time; empty if it was not recorded. With `steps` only those
/// from the rank's first to its last step in it.
[[nodiscard]] std::vector<double> counter_values(const Run& run, RankId rank, std::string_view name,
                                                 const StepsSection* steps);
/// The same of all ranks from their first to their last step, reading the run's counters once; without those that lack
/// it.
[[nodiscard]] std::map<RankId, std::vector<double>> counter_values_by_rank(const Run& run, std::string_view name,
                                                                           const StepsSection& steps);

/// CPU use of a rank's process, in percent of a core: the median of the samples of which the whole stretch, since the
/// sample before, lies between the start of the rank's first and the end of its last counted step (metrics.md 2.10). If
/// the rank has no counted steps, of all samples.
[[nodiscard]] std::optional<double> cpu_percent_of(const Run& run, RankId rank, const Section<StepsSection>& steps);

}  // namespace rankscope::analyzer
