#include "copies/parts.h"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "copies/local.h"
#include "copies/merge.h"
#include "rankscope/core/model/run.h"
#include "split/device_record.h"
#include "steps/time_cells.h"

namespace rankscope::analyzer {

Section<CopiesSection> tabulate_copies(const Run& run, const Section<StepsSection>& steps,
                                       const Section<StepsSection>& all_steps, const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  const std::vector<RankId> ranks = ranks_to_sum(run, steps, options, Among::accelerators);
  if (ranks.empty()) return no_device_work(run);
  LocalCopies local{run};
  CopiesMerge merge;
  for (const RankId rank : ranks) {
    const auto windows = all_steps ? windows_of(*all_steps, rank) : std::span<const StepWindow>{};
    const CountedRank counted = counted_rank(run, rank, steps, windows);
    merge.add(counted, local.of(rank, counted.cells),
              windows.empty() ? std::nullopt : std::optional{windows.front().window.end});
  }
  return std::move(merge).finish();
}

}  // namespace rankscope::analyzer
