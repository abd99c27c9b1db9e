#include "section_finders.h"

#include <algorithm>

#include "bandwidth/parts.h"
#include "blame/parts.h"
#include "collectives/asked_for.h"
#include "collectives/find.h"
#include "collectives/same_job.h"
#include "copies/parts.h"
#include "critical_path/parts.h"
#include "devices/parts.h"
#include "efficiency/parts.h"
#include "findings/parts.h"
#include "hang/parts.h"
#include "hta/find.h"
#include "memory/parts.h"
#include "pipeline/parts.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "replay/build.h"
#include "rules.h"
#include "split/communication.h"
#include "split/rank_rows.h"
#include "stragglers/code.h"
#include "stragglers/gains.h"
#include "stragglers/more_work.h"
#include "stragglers/parts.h"
#include "tcp_links/parts.h"
#include "thinned/parts.h"
#include "trend/parts.h"
#include "what_if/find.h"

namespace rankscope::analyzer {
namespace {

void add(Quality& sum, const Quality& more) {
  for (const CounterInfo& info : counter_table()) sum.add(info.counter, more.of(info.counter));
}

/// Files of different jobs: what compares their ranks is refused, what is about each rank alone is kept.
void refuse_other_jobs(Work& work) {
  work.other_jobs = why_other_jobs(work.run, work.all_steps, work.matching);
  if (work.other_jobs.empty()) return;
  if (work.run.quality().of(Counter::jobs_mixed) == 0) work.quality.add(Counter::jobs_mixed);
  work.report.steps = work.all_steps = unavailable(work.other_jobs);
  work.report.steps_recorded.reset();
  work.report.collectives = work.matching.section = unavailable(work.other_jobs);
}

/// Where nothing says what a rank did, there is nothing to replay.
Section<replay::Graph> graph_of(const Work& work) {
  if (!work.other_jobs.empty()) return unavailable(work.other_jobs);
  if (!work.report.rank_rows) return unavailable(work.report.rank_rows.error().why);
  if (!work.report.why_not_compared.empty()) return unavailable(work.report.why_not_compared);
  return replay::build_graph(work.run, work.report.steps, work.matching, work.clocks);
}

/// Where a rank exchanges nothing with others, there is nothing that the factors could weigh against its compute.
bool any_communication(const Work& work) {
  return std::ranges::any_of(*work.report.rank_rows, [](const RankRow& row) { return row.total.comm_ns > 0; });
}

/// A part of the steps that needs the operations, too.
void find_thinned_steps(Work& work) {
  if (work.with_thinned && work.other_jobs.empty())
    work.report.thinned = find_thinned(work.run, *work.with_thinned, work.matching, work.options.steps);
}

}  // namespace

void find_all_steps(Work& work) {
  StepsResult result = find_steps(work.run, work.clocks, work.options);
  Report& report = work.report;
  report.steps = std::move(result.section);
  work.all_steps = std::move(result.all);
  work.with_thinned = std::move(result.with_thinned);
  work.why_no_thinned = std::move(result.why_no_thinned);
  if (work.all_steps) report.steps_recorded = {work.all_steps->steps.front().index, work.all_steps->steps.back().index};
  if (report.steps_recorded && report.asked_for.steps && report.asked_for.steps->second == to_the_end)
    report.asked_for.steps->second = std::max(report.asked_for.steps->first, report.steps_recorded->second);
  add(work.quality, result.quality);
}

void find_collectives(Work& work) {
  work.matching = match_collectives(work.run, work.clocks);
  work.report.collectives = work.matching.section;
  add(work.quality, work.matching.quality);
}

void find_ranks(Work& work) {
  refuse_other_jobs(work);
  find_thinned_steps(work);
  Report& report = work.report;
  if (work.matching.section && report.steps)
    work.matching.section->unknown_in_steps = unknown_in_steps(work.run, work.matching, *report.steps);
  report.rank_rows = split_ranks(work.run, report.steps, work.matching, work.options);
  if (!report.rank_rows) return;
  if (work.other_jobs.empty()) report.why_not_compared = report.rank_rows->front().why_no_comm;
  describe_devices(work.run, report.steps, *report.rank_rows);
}

void find_blame_and_waits(Work& work) {
  const Report& report = work.report;
  BlameResult found = find_blame(work.run, work.clocks, report.steps, report.rank_rows, work.matching, work.options);
  work.report.blame = std::move(found.section);
  work.waits_of_operations = std::move(found.waits_ns);
}

void find_memory(Work& work) {
  Report& report = work.report;
  report.memory = memory_of(work.run, report.steps, report.rank_rows, work.options);
  if (report.rank_rows) fill_memory_peaks(report.memory, *report.rank_rows);
}

void find_critical_path(Work& work) {
  work.graph = graph_of(work);
  if (!work.graph) {
    work.report.critical_path = unavailable(work.graph.error().why);
    if (work.report.blame) work.report.blame->with_slack_ns = unavailable(work.graph.error().why);
    return;
  }
  const std::vector<std::int64_t> slack = replay::slack_of(*work.graph);
  work.report.critical_path = replay::critical_path(*work.graph, slack);
  if (!work.report.blame) return;
  const std::span<const Operation> operations = work.matching.section->operations;
  set_slack(work.run, operations, replay::operations_with_slack(*work.graph, slack, operations),
            work.waits_of_operations, *work.report.blame);
}

void find_what_if(Work& work) {
  Report& report = work.report;
  if (!work.graph) {
    report.what_if = unavailable(work.graph.error().why);
  } else {
    const auto classes = replay::classes_of(work.run, *work.graph, report.steps, report.rank_rows);
    report.what_if = replay::what_if(*work.graph, replay::ItemPeers(*work.graph, classes));
  }
  if (!report.efficiency) return;
  const auto& replayed = report.what_if;
  const auto network = [&]() -> Section<NetworkReplay> {
    if (!replayed) return unavailable(replayed.error().why);
    if (!replayed->ideal_network_ns) return unavailable(std::string{transfer_unknown});
    return NetworkReplay{replayed->replayed_ns, *replayed->ideal_network_ns};
  };
  set_network(*report.efficiency, network());
}

namespace {

/// Why ranks are not compared in the steps that were thinned out; empty if none of those asked for were.
std::string why_no_sums(const Work& work) {
  if (work.options.steps) return {};
  if (!work.with_thinned) return work.why_no_thinned;
  return format("steps were thinned out while the job ran (record --keep), and {}",
                work.other_jobs.empty() ? "none of them has sums on all ranks" : "the recording has several jobs");
}

/// By the sums of all steps. What was given up cannot be replayed: gains are those by own times (metrics.md 22.4).
void find_slow_ranks_by_sums(Work& work) {
  Report& report = work.report;
  const Section<StepsSection> steps = report.thinned->steps;
  const Section<std::vector<RankRow>> rows = report.thinned->rows;
  if (std::string why = why_waits_are_hidden(work.run, *rows); !why.empty()) {
    report.stragglers = unavailable(std::move(why));
    return;
  }
  report.stragglers = find_stragglers(work.run, steps, rows, report.collectives, report.blame);
  if (!report.stragglers || !report.steps) return;
  if (report.tcp_links) leave_to_slow_links(*report.tcp_links, *report.stragglers);
  add_device_evidence(work.run, *report.steps, *report.stragglers);
  if (report.rank_rows) add_code(work.run, *report.steps, *report.rank_rows, *report.stragglers);
}

}  // namespace

void find_slow_ranks(Work& work) {
  Report& report = work.report;
  if (report.thinned) return find_slow_ranks_by_sums(work);
  report.stragglers = find_stragglers(work.run, report.steps, report.rank_rows, report.collectives, report.blame);
  if (report.stragglers && report.stragglers->cannot_tell.empty()) report.stragglers->cannot_tell = why_no_sums(work);
  if (report.stragglers && report.tcp_links) leave_to_slow_links(*report.tcp_links, *report.stragglers);
  if (report.stragglers && report.steps) add_device_evidence(work.run, *report.steps, *report.stragglers);
  if (report.stragglers && work.graph && report.stragglers->rows.size() > 1) {
    const auto classes = replay::classes_of(work.run, *work.graph, report.steps, report.rank_rows);
    set_gains_together(report.what_if, *work.graph, replay::ItemPeers(*work.graph, classes), *report.stragglers);
  }
  if (report.stragglers && report.steps) set_replayed_gains(report.what_if, *report.steps, *report.stragglers);
  if (report.stragglers && report.steps && report.rank_rows) {
    add_code(work.run, *report.steps, *report.rank_rows, *report.stragglers);
    add_more_work(work.run, *report.steps, *report.rank_rows, *report.stragglers);
  }
}

void find_trends(Work& work) { work.report.trend = find_trend(work.report.steps, work.report.rank_rows); }

void find_efficiencies(Work& work) {
  if (work.report.rank_rows && !any_communication(work)) {
    work.report.efficiency =
        unavailable("no communication was recorded, so nothing shows how well ranks work together");
    return;
  }
  work.report.efficiency = find_efficiency(work.run, work.report.steps, work.report.rank_rows);
}

void find_copies(Work& work) {
  work.report.copies = tabulate_copies(work.run, work.report.steps, work.all_steps, work.options);
}

void find_schedules(Work& work) { work.report.pipeline = find_pipeline(work.run, work.clocks, work.report.steps); }

void find_bandwidths(Work& work) {
  work.report.bandwidth =
      find_bandwidth(work.run, work.clocks, work.report.steps, work.report.rank_rows, work.matching, work.options);
}

void find_numbers_of_hta(Work& work) {
  if (work.options.hta) work.report.hta = hta_numbers(work.recorded, *work.options.hta);
}

namespace {

/// Also those that were thinned out.
Section<StepsSection> steps_made(const Work& work) {
  return work.with_thinned ? Section<StepsSection>{*work.with_thinned} : work.all_steps;
}

}  // namespace

void find_findings(Work& work) {
  work.report.findings = judge_findings(work.run, work.report, work.options,
                                        find_lost_ranks(work.run, steps_made(work), work.clocks), rules());
}

}  // namespace rankscope::analyzer
