#include "data_loading/parts.h"

#include <optional>
#include <string>
#include <utility>

#include "data_loading/local.h"
#include "data_loading/merge.h"
#include "steps/counted_windows.h"

namespace rankscope::analyzer {

Section<DataLoadingSection> find_data_loading(const Run& run, const Section<StepsSection>& steps,
                                              const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  DataLoadingMerge merge;
  for (const RankId rank : ranks_to_sum(run, steps, options, Among::all_ranks))
    merge.add(rank, counted_windows(run, rank, steps), local_data_loading(run, rank));
  return std::move(merge).finish();
}

std::optional<std::int64_t> workers_needed(const DataLoadingRow& row) {
  const std::int64_t rest_ns = row.window_ns - row.waiting_ns;
  if (row.kind != LoaderWorkers::recorded || row.batches == 0 || row.waits == 0 || rest_ns <= 0) return std::nullopt;
  // Waits are as many as batches are needed; each of them takes a worker batches_ns / batches.
  const double work = static_cast<double>(row.batches_ns) / static_cast<double>(row.batches);
  const double needed = work * static_cast<double>(row.waits) / static_cast<double>(rest_ns);
  constexpr double most = 1e6;  // more is no number of workers
  if (needed > most) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(needed);
  return whole + (static_cast<double>(whole) < needed ? 1 : 0);
}

}  // namespace rankscope::analyzer
