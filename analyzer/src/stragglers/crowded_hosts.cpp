#include "stragglers/crowded_hosts.h"

#include <algorithm>

#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
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
  for (auto& [rank, percents] : counter_values_by_rank(run, "pressure_cpu_percent", steps)) {
    if (percents.size() < least_samples) continue;
    const double share = median(std::move(percents)) / 100;
    if (share >= crowded_share) shares_[run.process_of(rank).host] = std::min(share, 1.0);
  }
}

bool CrowdedHosts::explain(const Straggler& row) const {
  return row.persistence == Persistence::persistent && row.slowdown < crowded_slowdown && depends_on_cpu(run_, row) &&
         have(row.rank);
}

bool CrowdedHosts::have(RankId rank) const { return shares_.contains(run_.process_of(rank).host); }

bool CrowdedHosts::compute_for(RankId rank) const { return have(rank) && !run_.has_accelerator(rank); }

std::string CrowdedHosts::text() const {
  const auto worst = std::ranges::max_element(shares_, {}, [](const auto& host) { return host.second; });
  return format("on host {}, at least one task was waiting for a CPU {:.0f} % of the time", run_.text(worst->first),
                100 * worst->second);
}

}  // namespace rankscope::analyzer
