#include "python_stacks/parts.h"

#include <algorithm>
#include <utility>

#include "python_stacks/samples.h"
#include "rankscope/core/model/run.h"
#include "steps/counted_windows.h"
#include "steps/parts.h"

namespace rankscope::analyzer {

Section<PythonStacksSection> find_python_stacks(const Run& run, const Section<StepsSection>& steps,
                                                const ReportOptions& options) {
  const PythonSamples samples{run};
  if (std::ranges::none_of(run.ranks(), [&](RankId rank) { return samples.has(rank); }))
    return unavailable(std::string{no_python_code}, Missed::no);
  if (!steps) return unavailable("times per step cannot be computed without steps");
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  PythonStacksSection section;
  for (const RankId rank : ranks_to_sum(run, steps, options, Among::all_ranks)) {
    const CountedWindows counted = counted_windows(run, rank, steps);
    if (!samples.has(rank) || counted.steps == 0) continue;
    RankCode code = samples.over(rank, counted.ranges);
    if (code.steps > 0) section.ranks.push_back(std::move(code));
  }
  if (section.ranks.empty()) return unavailable(std::string{no_python_code}, Missed::no);
  return section;
}

}  // namespace rankscope::analyzer
