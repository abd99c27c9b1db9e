#include "launches/parts.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "launches/local.h"
#include "launches/merge.h"
#include "rankscope/core/model/run.h"
#include "split/device_record.h"
#include "steps/counted_windows.h"
#include "steps/parts.h"

namespace rankscope::analyzer {

Section<LaunchesSection> launches_of(const Run& run, const Section<StepsSection>& steps, const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  const auto counts = [&](RankId rank) { return run.has_accelerator(rank) && is_asked_for(options, rank); };
  if (std::ranges::none_of(run.ranks(), counts)) return no_device_work(run);
  const LocalLaunches local{run};
  LaunchesMerge merge;
  for (const RankId rank : run.ranks()) {
    if (!counts(rank)) continue;
    const auto windows = steps ? windows_of(*steps, rank) : std::span<const StepWindow>{};
    const CountedRank counted = counted_rank(run, rank, steps, windows);
    merge.add(counted, local.of(rank, counted.cells));
  }
  return std::move(merge).finish(why_no_launches(local.any_launch() ? Launches::recorded : Launches::none_recorded));
}

}  // namespace rankscope::analyzer
