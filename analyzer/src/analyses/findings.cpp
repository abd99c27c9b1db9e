#include "analyses/findings.h"

#include <algorithm>

#include "analyses/advice.h"
#include "analyses/arrivals.h"
#include "analyses/asked_for.h"
#include "analyses/idle_words.h"
#include "analyses/severity.h"
#include "analyses/steps.h"
#include "analyses/straggler_kind.h"
#include "analyses/straggler_words.h"
#include "analyses/trend_words.h"
#include "rankscope/core/format.h"
#include "units.h"

namespace rankscope::analyzer {
namespace {

constexpr double even_enough = 0.9;  // metrics.md 9.4, rotating
constexpr std::int64_t rotating_steps = 50;
constexpr std::size_t rotating_ranks = 4;
constexpr double rotating_imbalance = 1.05;

/// Sums over the ranks that have no straggler row: what a slow rank costs is said once.
struct Usual {
  TimeSplit total;
  std::vector<IdleShare> idle_shares;
  std::int64_t steps = 0;  ///< of one rank; 0 = the whole recording was split
  std::int64_t ranks = 0;
  bool on_accelerators = true;  ///< all of them

  [[nodiscard]] double share(std::int64_t part) const {
    return total.window_ns > 0 ? static_cast<double>(part) / static_cast<double>(total.window_ns) : 0;
  }
  /// Mean over ranks and steps; 0 without steps.
  [[nodiscard]] std::int64_t per_step(std::int64_t part) const { return steps > 0 ? mean(part) : 0; }
  /// Mean over ranks, and over steps where there are any.
  [[nodiscard]] std::int64_t mean(std::int64_t part) const {
    return ranks > 0 ? part / (std::max<std::int64_t>(steps, 1) * ranks) : 0;
  }
};

enum class Whom : std::uint8_t { everybody, all_but_stragglers };

Usual sum_ranks(const Report& report, const ReportOptions& options, Whom whom) {
  Usual usual;
  if (!report.rank_rows) return usual;
  for (const RankRow& row : *report.rank_rows) {
    if (!is_asked_for(options, row.rank)) continue;
    const bool slow = report.stragglers && std::ranges::find(report.stragglers->rows, row.rank, &Straggler::rank) !=
                                               report.stragglers->rows.end();
    if (slow && whom == Whom::all_but_stragglers) continue;
    usual.total += row.total;
    usual.idle_shares.insert(usual.idle_shares.end(), row.idle_shares.begin(), row.idle_shares.end());
    usual.steps = static_cast<std::int64_t>(row.per_step.size());
    usual.on_accelerators = usual.on_accelerators && row.device != "cpu";
    ++usual.ranks;
  }
  usual.idle_shares = by_reason(std::move(usual.idle_shares));
  return usual;
}

std::string percent(double share) { return format("{:.0f} %", share * 100); }

/// Behind the evidence.
std::string_view doubt_about(Certainty certainty) {
  switch (certainty) {
    case Certainty::fact:
      return "";
    case Certainty::of_two:
      return "; slower of two: which one is abnormal cannot be told";
    case Certainty::of_three:
      return "; slowest of three: no proof that it is abnormal";
    case Certainty::few_steps:
      return "; seen in few steps: no proof that it lasts";
  }
  return "";
}

bool told_by_straggler(const Report& report, const StepChange& change) {
  constexpr std::int64_t near = 5;  // steps; two methods find one begin
  return report.stragglers && std::ranges::any_of(report.stragglers->rows, [&](const Straggler& row) {
           return row.since_step && std::abs(*row.since_step - change.step) <= near;
         });
}

void add_stragglers(const Report& report, std::vector<Finding>& findings) {
  if (!report.stragglers) return;
  for (const Straggler& row : report.stragglers->rows) {
    const std::string when = when_text(row);
    Finding finding;
    finding.id = format("straggler.{}", name_of(row.kind));
    finding.severity = row.severity;
    finding.rank = row.rank;
    finding.title = row.persistence == Persistence::persistent
                        ? format("rank {} is slower than its peers{}{} ({:.2f} x, {})", row.rank.value,
                                 when.empty() ? "" : " ", when, row.slowdown, name_of(row.kind))
                        : format("rank {} stalls {} ({})", row.rank.value, when, name_of(row.kind));
    finding.evidence = row.evidence;
    finding.evidence += doubt_about(row.certainty);
    finding.advice = advice_for(row.kind, row.persistence);
    finding.gain_ns_per_step = row.gain_ns_per_step;
    findings.push_back(std::move(finding));
  }
}

void add_desyncs(const Run& run, const Report& report, std::vector<Finding>& findings) {
  if (!report.collectives) return;
  for (const Desync& desync : report.collectives->desyncs) {
    Finding finding;
    finding.id = "desync";
    // Behind the cut of a file the recording has no ends, whatever happened there.
    const bool cut = run.quality().of(Counter::segment_cut) + run.quality().of(Counter::truncated_input) > 0;
    const bool hung = !cut && run.quality().of(Counter::collectives_open) > 0;
    finding.severity = hung ? FindingSeverity::critical : FindingSeverity::major;
    finding.title = format("the ranks of group {} disagree about operation {}",
                           run.text(run.groups()[desync.group.index()].name), desync.sequence);
    finding.evidence = desync.what;
    finding.advice =
        "Make every rank call the same collectives in the same order: look for branches on rank or on data.";
    findings.push_back(std::move(finding));
  }
}

/// metrics.md 9.4; without a replay the imbalance is the mean of the slowest over the mean of all, step by step.
void add_rotating(const Run& run, const Report& report, std::vector<Finding>& findings) {
  if (!report.steps || !report.rank_rows || !report.collectives || !report.stragglers) return;
  if (!report.stragglers->rows.empty() || report.ranks.size() < rotating_ranks) return;
  const Arrivals arrivals = last_arrivals(run, *report.steps, *report.collectives);
  if (arrivals.by_unit || arrivals.trials < rotating_steps || evenness(arrivals, report.ranks) <= even_enough) return;
  std::int64_t slowest = 0;
  std::int64_t all = 0;
  for (std::size_t step = 0; step < static_cast<std::size_t>(arrivals.trials); ++step) {
    std::int64_t most = 0;
    for (const RankRow& row : *report.rank_rows) {
      if (step >= row.per_step.size()) continue;
      most = std::max(most, row.per_step[step].own_ns());
      all += row.per_step[step].own_ns();
    }
    slowest += most;
  }
  const auto ranks = static_cast<std::int64_t>(report.rank_rows->size());
  if (all <= 0 || static_cast<double>(slowest * ranks) / static_cast<double>(all) < rotating_imbalance) return;
  Finding finding;
  finding.id = "imbalance.rotating";
  finding.gain_ns_per_step = (slowest - all / ranks) / arrivals.trials;
  finding.severity = severity_of(report.steps->share_of_step(finding.gain_ns_per_step), gain_limits);
  finding.title = "every step another rank is the slow one";
  finding.evidence =
      format("the slowest rank of a step needs {} more than the mean; the last arriver changes (evenness {:.2f})",
             duration_text(finding.gain_ns_per_step), evenness(arrivals, report.ranks));
  finding.advice = "Balance the work inside each step: sequence lengths, sample sizes, routing to experts.";
  findings.push_back(std::move(finding));
}

/// metrics.md 9.5 and 20. A slow rank that became slow at the same step tells it already.
void add_step_change(const Report& report, std::vector<Finding>& findings) {
  if (!report.trend || report.trend->changes.empty()) return;
  const StepChange& change = report.trend->changes.back();
  const FindingSeverity severity = severity_of(change.ratio() - 1, change_limits);
  if (severity == FindingSeverity::info || told_by_straggler(report, change)) return;
  const std::vector<std::int64_t> counted = counted_steps(*report.steps);
  const auto after = counted.end() - std::ranges::lower_bound(counted, change.step);
  Finding finding;
  finding.id = "step_time.change";
  finding.severity = severity;
  finding.step = change.step;
  finding.title = format("since step {} steps take {:.2f} times as long", change.step, change.ratio());
  finding.evidence = format("{} before, {} since then; {}", duration_text(change.before_ns),
                            duration_text(change.after_ns), grown_text(change.ranks));
  finding.advice =
      "Look at what begins at that step: evaluation, checkpoints, another phase of the data, falling clocks, other "
      "jobs on the hosts.";
  finding.gain_ns_per_step = (change.after_ns - change.before_ns) * after / static_cast<std::int64_t>(counted.size());
  findings.push_back(std::move(finding));
}

/// What was not split is unknown, not 0.
std::string parts_of_exposed(const Usual& usual) {
  const TimeSplit& total = usual.total;
  const std::int64_t known = total.exposed_wait_ns + total.exposed_transfer_ns;
  if (known == 0) return ", how much of it waiting or moving data is unknown";
  return format(": {} waiting, {} moving data, {} not split", duration_text(usual.per_step(total.exposed_wait_ns)),
                duration_text(usual.per_step(total.exposed_transfer_ns)),
                duration_text(usual.per_step(total.exposed_comm_ns - known)));
}

void add_exposed_communication(const Report& report, const ReportOptions& options, std::vector<Finding>& findings) {
  const Usual usual = sum_ranks(report, options, Whom::everybody);
  const TimeSplit& total = usual.total;
  const double share = usual.share(total.exposed_comm_ns);
  // What the others wait for a slow rank is that rank's finding; here it would be said twice.
  const bool straggler = report.stragglers && !report.stragglers->rows.empty();
  Finding finding;
  finding.severity =
      severity_of(usual.share(total.exposed_comm_ns - (straggler ? total.exposed_wait_ns : 0)), exposed_comm_limits);
  if (finding.severity == FindingSeverity::info) return;
  const bool waiting = 2 * total.exposed_wait_ns > total.exposed_comm_ns;
  const bool unmatched = report.collectives && report.collectives->unmatched * 20 > report.collectives->matched;
  if (unmatched) finding.severity = capped(finding.severity, FindingSeverity::minor);
  finding.id = "exposed_communication";
  finding.title = format("{} of the time only communication runs{}", percent(share),
                         waiting ? ", mostly waiting for other ranks" : "");
  finding.evidence = format("per step and rank {} exposed{}; {} more is hidden behind compute",
                            duration_text(usual.per_step(total.exposed_comm_ns)), parts_of_exposed(usual),
                            duration_text(usual.per_step(total.overlapped_comm_ns)));
  const Exposed waits = straggler ? Exposed::waiting_for_straggler : Exposed::waiting_for_changing_ranks;
  finding.advice = advice_for(waiting ? waits : Exposed::moving);
  // Headroom of metrics.md 3.4; waiting is given back by fixing whoever is late, which is said there.
  const std::int64_t uncovered_compute = total.compute_ns - total.overlapped_comm_ns;
  finding.gain_ns_per_step = usual.per_step(std::min(total.exposed_transfer_ns, uncovered_compute));
  findings.push_back(std::move(finding));
}

void add_idle(const Report& report, const ReportOptions& options, std::vector<Finding>& findings) {
  const Usual usual = sum_ranks(report, options, Whom::all_but_stragglers);
  // Without steps nobody knows which part of a host's time was meant to be work.
  if (usual.steps == 0 && !usual.on_accelerators) return;
  const TimeSplit& total = usual.total;
  const std::int64_t data = total.idle_ns_of(IdleCause::data);
  if (const auto severity = severity_of(usual.share(data), data_limits); severity > FindingSeverity::info) {
    findings.push_back({"data_loading", severity,
                        format("{} of the time the ranks wait for data", percent(usual.share(data))),
                        format("{} {} inside data-loading spans", duration_text(usual.mean(data)),
                               usual.steps > 0 ? "per step and rank" : "per rank in the whole recording"),
                        "Use more loader workers or prefetch deeper; move decoding and augmentation out of the step.",
                        usual.per_step(data), std::nullopt, std::nullopt});
  }
  const std::int64_t rest = total.idle_ns - data;
  const FindingSeverity severity = severity_of(usual.share(rest), idle_limits);
  if (severity == FindingSeverity::info) return;
  std::string causes;
  for (const IdleCause cause : {IdleCause::host, IdleCause::sync, IdleCause::kernel_gap, IdleCause::other}) {
    if (total.idle_ns_of(cause) == 0) continue;
    causes += format("{}{} for {}", causes.empty() ? "" : ", ", duration_text(usual.mean(total.idle_ns_of(cause))),
                     words_of(cause));
  }
  const auto most =
      std::ranges::find_if(usual.idle_shares, [](const IdleShare& share) { return share.cause != IdleCause::data; });
  if (most != usual.idle_shares.end())
    causes += format("; most of one kind: {}{}{}, {}", words_of(*most), most->range.empty() ? "" : " in ", most->range,
                     duration_text(usual.mean(most->ns)));
  findings.push_back({"idle", severity, format("{} of the time nothing runs", percent(usual.share(rest))),
                      usual.steps > 0 ? "per step and rank: " + causes
                                      : "over the whole recording, start-up and shut-down included: " + causes,
                      advice_for_idle(total, usual.idle_shares), usual.per_step(rest), std::nullopt, std::nullopt});
}

}  // namespace

Section<std::vector<Finding>> judge_findings(const Run& run, const Report& report, const ReportOptions& options,
                                             std::vector<Finding> lost) {
  std::vector<Finding> findings = std::move(lost);
  add_stragglers(report, findings);
  add_desyncs(run, report, findings);
  add_rotating(run, report, findings);
  add_step_change(report, findings);
  if (report.rank_rows) {
    const std::size_t before = findings.size();
    const bool in_steps = report.steps && !counted_steps(*report.steps).empty();
    if (in_steps) add_exposed_communication(report, options, findings);
    add_idle(report, options, findings);
    // Where the file is cut, what ran may be missing; a whole recording holds start-up and shut-down, too: metrics.md
    // 20 caps what rests on such data.
    if (!in_steps || run.quality().of(Counter::truncated_input) > 0) {
      for (std::size_t i = before; i < findings.size(); ++i)
        findings[i].severity = capped(findings[i].severity, FindingSeverity::minor);
    }
  }
  if (findings.empty() && !report.rank_rows && !report.collectives) {
    return unavailable("it needs the time of each rank");
  }
  std::erase_if(findings, [](const Finding& finding) { return finding.severity == FindingSeverity::info; });
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return a.gain_ns_per_step > b.gain_ns_per_step;
  });
  return findings;
}

}  // namespace rankscope::analyzer
