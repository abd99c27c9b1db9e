#include "stragglers/crowded_hosts.h"

#include <algorithm>

#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "steps/sample_windows.h"

namespace rankscope::analyzer {
namespace {

constexpr double crowded_share = 0.8;  // median of the samples
constexpr std::size_t least_samples = 10;

/// Of a rank with an accelerator only what its host does.
bool depends_on_cpu(const Run& run, const Straggler& row) {
  switch (row.kind) {
    case StragglerKind::host:
    case StragglerKind::data:
      return true;
    case StragglerKind::compute:
    case StragglerKind::mixed:
      return !run.has_accelerator(row.rank);
    case StragglerKind::network:
    case StragglerKind::memory:
      return false;
  }
  return false;
}

}  // namespace

CrowdedHosts::CrowdedHosts(const Run& run, const StepsSection& steps) : run_(run) {
  for (const RankId rank : run.ranks()) {
    const std::vector<double> percents = counter_values(run, rank, "pressure_cpu_percent", &steps);
    if (percents.size() < least_samples) continue;
    const double share = median(percents) / 100;
    if (share >= crowded_share) shares_[run.process_of(rank).host] = std::min(share, 1.0);
  }
}

bool CrowdedHosts::explain(const Straggler& row) const {
  return row.persistence == Persistence::persistent && row.slowdown < crowded_slowdown && depends_on_cpu(run_, row) &&
         shares_.contains(run_.process_of(row.rank).host);
}

std::string CrowdedHosts::text() const {
  const auto worst = std::ranges::max_element(shares_, {}, [](const auto& host) { return host.second; });
  return format("on host {}, at least one task waited for a CPU {:.0f} % of the time", run_.text(worst->first),
                100 * worst->second);
}

}  // namespace rankscope::analyzer
