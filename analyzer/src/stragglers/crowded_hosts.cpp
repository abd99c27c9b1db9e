#include "stragglers/crowded_hosts.h"

#include <algorithm>

#include "rankscope/core/model/run.h"
#include "steps/crowded_cpus.h"

namespace rankscope::analyzer {
namespace {

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

CrowdedHosts::CrowdedHosts(const Run& run, const StepsSection& steps) : run_(run), shares_(crowded_cpus(run, steps)) {}

bool CrowdedHosts::explain(const Straggler& row) const {
  return row.persistence == Persistence::persistent && row.slowdown < crowded_slowdown && depends_on_cpu(run_, row) &&
         have(row.rank);
}

bool CrowdedHosts::have(RankId rank) const { return shares_.contains(run_.process_of(rank).host); }

bool CrowdedHosts::compute_for(RankId rank) const { return have(rank) && !run_.has_accelerator(rank); }

std::string CrowdedHosts::text() const {
  const auto worst = std::ranges::max_element(shares_, {}, [](const auto& host) { return host.second; });
  return crowded_text(run_.text(worst->first), worst->second);
}

}  // namespace rankscope::analyzer
