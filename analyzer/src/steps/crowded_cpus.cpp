#include "steps/crowded_cpus.h"

#include <algorithm>

#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "steps/sample_windows.h"

namespace rankscope::analyzer {
namespace {

constexpr double crowded_share = 0.8;  // median of the samples
constexpr std::size_t least_pressure_samples = 10;

}  // namespace

std::map<StringId, double> crowded_cpus(const Run& run, const StepsSection& steps) {
  std::map<StringId, double> shares;
  for (auto& [rank, percents] : counter_values_by_rank(run, "pressure_cpu_percent", steps)) {
    if (percents.size() < least_pressure_samples) continue;
    const double share = median(std::move(percents)) / 100;
    if (share >= crowded_share) shares[run.process_of(rank).host] = std::min(share, 1.0);
  }
  return shares;
}

std::string crowded_text(std::string_view host, double share) {
  return format("on host {}, at least one task was waiting for a CPU {:.0f} % of the time", host, 100 * share);
}

}  // namespace rankscope::analyzer
