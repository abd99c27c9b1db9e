#include "kernels/parts.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/local.h"
#include "kernels/merge.h"
#include "rankscope/core/model/run.h"
#include "split/device_record.h"
#include "steps/parts.h"
#include "steps/time_cells.h"

namespace rankscope::analyzer {
namespace {

template <class Row>
KernelRest sum_from(std::span<const Row> rows, std::size_t shown) {
  KernelRest rest;
  for (const Row& row : rows.subspan(std::min(shown, rows.size()))) {
    ++rest.keys;
    rest.count += row.times.count;
    rest.sum_ns += row.times.sum_ns;
    rest.exclusive_ns += row.times.exclusive_ns;
  }
  return rest;
}

}  // namespace

Section<KernelsSection> tabulate_kernels(const Run& run, const Section<StepsSection>& steps,
                                         const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  const std::vector<RankId> ranks = ranks_to_sum(run, steps, options, Among::accelerators);
  if (ranks.empty()) return no_device_work(run);
  LocalKernels local{run};
  KernelMerge merge;
  for (const RankId rank : ranks) {
    const auto windows = steps ? windows_of(*steps, rank) : std::span<const StepWindow>{};
    const CountedRank counted = counted_rank(run, rank, steps, windows);
    merge.add(counted, local.of(rank, counted.cells));
  }
  return std::move(merge).finish();
}

KernelRest rest_of(std::span<const KernelRow> rows, std::size_t shown) { return sum_from(rows, shown); }
KernelRest rest_of(std::span<const RankKernelRow> rows, std::size_t shown) { return sum_from(rows, shown); }

}  // namespace rankscope::analyzer
