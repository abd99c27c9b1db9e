#include "data_loading/parts.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "words/units.h"

namespace rankscope::analyzer {

namespace {

/// "; in 93 % of it all 2 workers of a rank were busy"
std::string workers_text(const LoaderSums& sums) {
  if (sums.waiting_ns <= 0) return {};
  const auto share = [&](std::int64_t part) {
    return percent_of(static_cast<double>(part) / static_cast<double>(sums.waiting_ns));
  };
  return format("; while the loop waited, all {} were busy in {} of the time, some in {}, none in {}",
                counted(sums.workers, "loader worker"), share(sums.all_busy_ns), share(sums.some_busy_ns),
                share(sums.none_busy_ns));
}

}  // namespace

LoaderSums sum_loaders(const Report& report) {
  LoaderSums sums;
  if (!report.data_loading) return sums;
  for (const DataLoadingRow& row : report.data_loading->rows) {
    sums.own_thread = sums.own_thread || row.kind == LoaderWorkers::none;
    if (row.kind != LoaderWorkers::recorded) continue;
    sums.waiting_ns += row.waiting_ns;
    sums.all_busy_ns += row.all_busy_ns;
    sums.some_busy_ns += row.some_busy_ns;
    sums.none_busy_ns += row.none_busy_ns;
    sums.workers = std::max(sums.workers, row.workers);
    sums.needed = std::max(sums.needed, workers_needed(row).value_or(0));
  }
  return sums;
}

std::string advice_for_data(const LoaderSums& sums) {
  if (sums.waiting_ns > 0 && 2 * sums.all_busy_ns > sums.waiting_ns)
    return format(
        "The workers cannot keep up: add some{} or make loading cheaper (storage, decoding, augmentation); prefetching "
        "deeper does not help.",
        sums.needed > sums.workers ? format(" (about {} would load as fast as the steps need it)", sums.needed) : "");
  if (sums.waiting_ns > 0 && 2 * sums.none_busy_ns > sums.waiting_ns)
    return "The workers were idle meanwhile, so more of them do not help: look at what the training thread does "
           "to a batch itself (collating, pinning, copying), and prefetch deeper.";
  if (sums.waiting_ns > 0)
    return "Some workers were idle while others held the loop up: prefetch deeper, and even out how long batches take "
           "to load.";
  if (sums.own_thread)
    return "The training thread loads its batches itself: give the DataLoader workers (num_workers=4 or more) and "
           "pin_memory=True.";
  return "Use more loader workers or prefetch deeper; move decoding and augmentation out of the step. The workers were "
         "not recorded: if they are busy all the time (top, py-spy), they are too few.";
}

void judge_data_loading(const RuleContext& context, std::vector<Finding>& findings) {
  const Usual usual = all_but_named(context, findings, "unequal.data_wait");
  if (!usual.shows_idle_time()) return;
  const std::int64_t data = usual.total.idle_ns_of(IdleCause::data);
  const auto severity = severity_of(usual.share(data), data_limits);
  if (severity == FindingSeverity::info) return;
  const LoaderSums loaders = sum_loaders(context.report);
  findings.push_back(
      {"data_loading", severity, format("{} of the time the ranks wait for data", percent_of(usual.share(data))),
       format("{} {} inside data-loading spans{}", duration_text(usual.mean(data)),
              usual.steps > 0 ? "per step and rank" : "per rank in the whole recording", workers_text(loaders)),
       advice_for_data(loaders), usual.per_step(data), std::nullopt, std::nullopt});
}

}  // namespace rankscope::analyzer
