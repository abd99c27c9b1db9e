#include "stragglers/parts.h"

#include <algorithm>

#include "bandwidth/parts.h"
#include "math/statistics.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rules/severity.h"
#include "stragglers/arrivals.h"
#include "stragglers/kind.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

std::string advice_for(StragglerKind kind, Persistence persistence) {
  switch (kind) {
    case StragglerKind::compute:
      return "Compare the clocks, power and temperature of the rank's device, and the load on its host, with those of "
             "its peers; if the rank's operations are larger, even out the work.";
    case StragglerKind::host:
      return persistence == Persistence::transient ? "Look for pauses of the host process in these steps: garbage "
                                                     "collection (collect on all ranks at the same step), "
                                                     "checkpoints, logging, other jobs."
                                                   : "Check what delays the rank's host thread between operations: CPU "
                                                     "binding, other jobs on the host, logging, blocking calls.";
    case StragglerKind::data:
      return std::string{data_loader_advice};
    case StragglerKind::network:
      return "Look at the rank's network interface and communication thread: link speed and errors, CPU binding, proxy "
             "settings.";
    case StragglerKind::memory:
      return "Look at the rank's copies and allocations: pinned memory, allocator retries, device memory that other "
             "processes use.";
    case StragglerKind::mixed:
      return "Several parts of the rank's step are slower than on its peers: look for other load on the rank's host "
             "first.";
  }
  return {};
}

/// Of a rank that computes on its CPU.
constexpr std::string_view cpu_advice =
    "Look for other load on the rank's host and for threads that share its cores (OMP_NUM_THREADS, CPU binding); if "
    "the rank's operations are larger, even out the work.";
constexpr std::string_view more_work_advice =
    "Even out the work if this rank gets longer inputs, or remove work that only this rank does: logging, evaluation, "
    "checks.";

std::string advice_for(SlowDevice cause) {
  switch (cause) {
    case SlowDevice::too_hot:
      return "Cool the rank's GPU: check fans, airflow and the heat of neighbouring devices (nvidia-smi -q -d "
             "TEMPERATURE,PERFORMANCE); do not use this GPU until the cooling is fixed.";
    case SlowDevice::power_limit:
      return "Compare the power limit of the rank's GPU with those of other GPUs, and raise the limit if it is lower "
             "(nvidia-smi -q -d POWER); if the limits are equal, this GPU needs more power for the same clock: replace "
             "it.";
    case SlowDevice::hardware:
      return "The hardware slows down the rank's GPU: look at the power supply and cooling of the server (nvidia-smi "
             "-q -d PERFORMANCE), and do not use this GPU until the cause is fixed.";
    case SlowDevice::clocks_set:
      return "The clocks of the rank's GPU were set by hand: reset them (nvidia-smi -rac, -rgc), or set the same "
             "clocks on all GPUs.";
    case SlowDevice::low_clock:
      return "Compare the clocks, power limit and temperature of the rank's GPU with those of other GPUs (nvidia-smi "
             "-q -d CLOCK,POWER,PERFORMANCE).";
  }
  return {};
}

std::string advice_on(const Run& run, const Straggler& row) {
  if (row.device) return advice_for(*row.device);
  if (row.more_work) return std::string{more_work_advice};
  if (row.kind == StragglerKind::compute && !run.has_accelerator(row.rank)) return std::string{cpu_advice};
  return advice_for(row.kind, row.persistence);
}

constexpr double even_enough = 0.9;  // metrics.md 9.4, rotating
constexpr std::int64_t rotating_steps = 50;
constexpr std::size_t rotating_ranks = 4;
constexpr double rotating_imbalance = 1.05;

/// metrics.md 9.7: where the matrix of links, or the bandwidth of a group, tells where a late communication comes from.
std::string slow_paths_of(const Report& report, const Straggler& row) {
  if (row.kind != StragglerKind::network || !report.bandwidth) return {};
  for (const SlowPath& path : report.bandwidth->slow)
    if (std::ranges::find(path.ranks, row.rank) != path.ranks.end()) return "; " + title_of(path);
  return {};
}

}  // namespace

void judge_stragglers(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (!report.stragglers) return;
  for (const Straggler& row : report.stragglers->rows) {
    const std::string when = when_text(row);
    Finding finding;
    finding.id = format("{}{}", finding_family::straggler, name_of(row.kind));
    finding.severity = row.severity;
    finding.rank = row.rank;
    finding.title = row.persistence == Persistence::persistent
                        ? format("rank {} is slower than its peers{}{} ({:.2f} x, {})", row.rank.value,
                                 when.empty() ? "" : " ", when, row.slowdown, short_words_of(row.kind))
                        : format("rank {} is slow {} ({})", row.rank.value, when, short_words_of(row.kind));
    finding.evidence = row.evidence + code_text(row);
    finding.evidence += slow_paths_of(report, row);
    if (const std::string more = together_text(row); !more.empty()) finding.evidence += "; " + more;
    finding.evidence += doubt_about(row.certainty);
    finding.advice = advice_on(context.run, row);
    finding.gain_ns_per_step = row.gain_ns_per_step;
    finding.why_no_gain = row.why_no_gain;
    findings.push_back(std::move(finding));
  }
}

namespace {

/// How uneven a counted step is.
struct Unevenness {
  std::int64_t beyond_mean_ns = 0;  ///< own time of the slowest rank, beyond the mean of all
  double ratio = 1;                 ///< the same as a quotient
};

std::vector<Unevenness> unevenness_of(std::span<const RankRow> rows, std::size_t steps) {
  std::vector<Unevenness> all;
  for (std::size_t step = 0; step < steps; ++step) {
    std::int64_t most = 0;
    std::int64_t sum = 0;
    std::int64_t ranks = 0;
    for (const RankRow& row : rows) {
      if (step >= row.per_step.size()) continue;
      most = std::max(most, row.per_step[step].own_ns());
      sum += row.per_step[step].own_ns();
      ++ranks;
    }
    if (sum <= 0) continue;
    all.push_back({most - sum / ranks, static_cast<double>(most * ranks) / static_cast<double>(sum)});
  }
  return all;
}

}  // namespace

/// metrics.md 9.4; without a replay the imbalance of the usual step: the slowest over the mean of all.
void judge_rotation(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (!report.steps || !report.rank_rows || !report.collectives || !report.stragglers) return;
  if (!report.stragglers->rows.empty() || report.ranks.size() < rotating_ranks) return;
  const Arrivals arrivals = last_arrivals(context.run, *report.steps, *report.collectives);
  if (arrivals.by_operation || arrivals.trials < rotating_steps || evenness(arrivals, report.ranks) <= even_enough)
    return;
  std::int64_t beyond_mean = 0;
  std::vector<double> ratios;
  for (const Unevenness& step : unevenness_of(*report.rank_rows, static_cast<std::size_t>(arrivals.trials))) {
    beyond_mean += step.beyond_mean_ns;
    ratios.push_back(step.ratio);
  }
  if (ratios.empty() || median(ratios) < rotating_imbalance) return;
  Finding finding;
  finding.id = "imbalance.rotating";
  finding.gain_ns_per_step = beyond_mean / arrivals.trials;
  finding.severity = severity_of(report.steps->share_of_step(finding.gain_ns_per_step), gain_limits);
  finding.title = "the slowest rank changes from step to step";
  finding.evidence = format(
      "on average over the steps, the own time of the slowest rank is {} longer than the mean own time of all ranks; "
      "the last rank to arrive changes (evenness {:.2f}, where 1 means that each rank arrives last equally often)",
      duration_text(finding.gain_ns_per_step), evenness(arrivals, report.ranks));
  finding.advice =
      "Even out the work of the ranks within each step: sequence lengths, sample sizes, routing to experts.";
  findings.push_back(std::move(finding));
}

}  // namespace rankscope::analyzer
