#include "data_loading/parts.h"

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "split/row_sums.h"
#include "steps/counted_windows.h"
#include "words/units.h"

namespace rankscope::analyzer {

namespace {

/// "; while the training loop waited, all 2 loader workers were busy for 93 % of the time, some for 7.0 %, none for
/// 0.0 %"
std::string workers_text(const LoaderSums& sums) {
  if (sums.waiting_ns <= 0) return {};
  const auto share = [&](std::int64_t part) {
    return percent_of(static_cast<double>(part) / static_cast<double>(sums.waiting_ns));
  };
  if (sums.workers == 1)
    return format("; while the training loop waited, the loader worker was busy for {} of the time",
                  share(sums.all_busy_ns));
  return format("; while the training loop waited, all {} were busy for {} of the time, some for {}, none for {}",
                counted(sums.workers, "loader worker"), share(sums.all_busy_ns), share(sums.some_busy_ns),
                share(sums.none_busy_ns));
}

/// The rank that waits for at least three quarters of all that the ranks of `usual` wait for data; null: there is none.
const RankRow* who_waits(const Usual& usual) {
  if (usual.ranks < 2) return nullptr;
  for (const RankRow* row : usual.rows)
    if (4 * row->total.idle_ns_of(IdleCause::data) >= 3 * usual.total.idle_ns_of(IdleCause::data)) return row;
  return nullptr;
}

std::string title_for(const RankRow* row, const Usual& usual) {
  if (row == nullptr || row->total.window_ns <= 0)
    return format("{} of the time, the ranks wait for data",
                  percent_of(usual.share(usual.total.idle_ns_of(IdleCause::data))));
  const auto own = static_cast<double>(row->total.idle_ns_of(IdleCause::data));
  return format("rank {} waits for data for {} of its time", row->rank.value,
                percent_of(own / static_cast<double>(row->total.window_ns)));
}

std::string evidence_for(const RankRow* row, const Usual& usual) {
  const std::int64_t data = usual.total.idle_ns_of(IdleCause::data);
  if (row == nullptr)
    return format("{} of idle time {} falls inside data-loading spans", duration_text(usual.mean(data)),
                  usual.steps > 0 ? "per step and rank" : "per rank in the whole recording");
  const std::int64_t own = row->total.idle_ns_of(IdleCause::data);
  const std::int64_t steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(row->per_step.size()));
  return format("{} of idle time {} falls inside data-loading spans ({}: {} in total)", duration_text(own / steps),
                row->per_step.empty() ? "in the whole recording" : "per step", counted(usual.ranks - 1, "other rank"),
                duration_text((data - own) / steps));
}

/// One rank that waits delays all others, so that a mean over the ranks is no bound (metrics.md 20.1).
void set_gain(const RuleContext& context, const Usual& usual, Finding& finding) {
  ReplayedGain gain = replayed_gain(context.report.what_if, &WhatIfSection::without_data_ns);
  // The replay is of the whole job, with ranks that are named elsewhere or not asked for: the others save at most what
  // they all wait together.
  const std::int64_t of_all_ranks = usual.ranks * usual.per_step(usual.total.idle_ns_of(IdleCause::data));
  const bool all = context.report.rank_rows && usual.rows.size() == rows_to_sum(*context.report.rank_rows).size();
  finding.gain_ns_per_step = all ? gain.ns_per_step : std::min(gain.ns_per_step, of_all_ranks);
  finding.why_no_gain = std::move(gain.why_unknown);
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
        "The loader workers cannot keep up: use more of them{} or make loading cheaper (storage, decoding, "
        "augmentation). Prefetching more batches does not help.",
        sums.needed > sums.workers ? format(" (about {} would keep up with the steps)", sums.needed) : "");
  if (sums.waiting_ns > 0 && 2 * sums.none_busy_ns > sums.waiting_ns)
    return "The loader workers were idle while the training loop waited, so adding workers does not help. Look at what "
           "the training thread itself does with a batch (collating, pinning, copying), and prefetch more batches.";
  if (sums.waiting_ns > 0)
    return "Some loader workers were idle while the training loop waited for others to load: prefetch more batches, "
           "and even out the loading times of batches.";
  if (sums.own_thread)
    return "The training thread loads its batches itself: set num_workers=4 or more and pin_memory=True for the "
           "DataLoader.";
  return "Use more loader workers or prefetch more batches; move decoding and augmentation out of the step. The "
         "workers were not recorded: if they are busy all the time (top, py-spy), there are too few of them.";
}

void judge_data_loading(const RuleContext& context, std::vector<Finding>& findings) {
  const Usual usual = all_but_named(context, findings, finding_id::unequal_data_wait);
  if (!usual.shows_idle_time()) return;
  const std::int64_t data = usual.total.idle_ns_of(IdleCause::data);
  const auto severity = severity_of(usual.share(data), data_limits);
  if (severity == FindingSeverity::info) return;
  const LoaderSums loaders = sum_loaders(context.report);
  const RankRow* who = who_waits(usual);
  Finding finding{std::string{finding_id::data_loading},
                  severity,
                  title_for(who, usual),
                  evidence_for(who, usual) + workers_text(loaders),
                  advice_for_data(loaders),
                  0,
                  std::nullopt,
                  std::nullopt};
  if (who != nullptr) finding.rank = who->rank;
  if (usual.steps > 0)
    set_gain(context, usual, finding);
  else
    finding.why_no_gain = "without steps, it is not known what a fix saves";
  findings.push_back(std::move(finding));
}

}  // namespace rankscope::analyzer
