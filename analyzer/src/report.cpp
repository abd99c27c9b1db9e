// The registry of the analyses: what they answer, in which order they run, and what they fill in.
#include "rankscope/analyzer/report.h"

#include <algorithm>

#include "steps/asked_for.h"
#include "bandwidth/find.h"
#include "blame/find.h"
#include "clocks/clock_trust.h"
#include "collectives/find.h"
#include "copies/find.h"
#include "data_loading/find.h"
#include "devices/find.h"
#include "efficiency/find.h"
#include "flops/find.h"
#include "fusable/find.h"
#include "hta/find.h"
#include "kernels/find.h"
#include "launches/find.h"
#include "hang/lost_ranks.h"
#include "memory/find.h"
#include "operators/find.h"
#include "overlap/find.h"
#include "split/peers.h"
#include "pipeline/find.h"
#include "predicted/find.h"
#include "split/rank_rows.h"
#include "facts/run_facts.h"
#include "collectives/same_job.h"
#include "stragglers/slow_devices.h"
#include "steps/find.h"
#include "stragglers/find.h"
#include "trend/find.h"
#include "alignment/align.h"
#include "replay/build.h"
#include "critical_path/find.h"
#include "critical_path/slack.h"
#include "what_if/find.h"
#include "findings/find.h"

namespace rankscope::analyzer {
namespace {

/// What the analyses hand on to those behind them.
struct Work {
  const Run& recorded;  ///< times as the ranks' own clocks showed them
  const Run& run;       ///< in run time
  const ReportOptions& options;
  ClockTrust clocks;
  Section<StepsSection> all_steps;  ///< whatever was asked for
  Matching matching;
  Quality quality;  ///< of the analyses; the run has its own
  Report report;
  std::string other_jobs;                    ///< why the ranks are not compared; empty: they are
  std::vector<std::int64_t> waits_of_units;  ///< exposed ones, parallel to the units of the matching; for blame
  Section<replay::Graph> graph = unavailable("not computed");
};

void add(Quality& sum, const Quality& more) {
  for (const CounterInfo& info : counter_table()) sum.add(info.counter, more.of(info.counter));
}

void run_steps(Work& work) {
  StepsResult result = find_steps(work.run, work.clocks, work.options);
  work.report.steps = std::move(result.section);
  work.all_steps = std::move(result.all);
  if (work.all_steps)
    work.report.steps_recorded = {work.all_steps->steps.front().index, work.all_steps->steps.back().index};
  if (work.report.steps_recorded && work.report.asked_for.steps && work.report.asked_for.steps->second == to_the_end)
    work.report.asked_for.steps->second =
        std::max(work.report.asked_for.steps->first, work.report.steps_recorded->second);
  add(work.quality, result.quality);
}

void run_collectives(Work& work) {
  work.matching = match_collectives(work.run, work.clocks);
  work.report.collectives = work.matching.section;
  add(work.quality, work.matching.quality);
}

/// Files of different jobs: what compares their ranks is refused, what tells of each rank alone is kept.
void refuse_other_jobs(Work& work) {
  work.other_jobs = why_other_jobs(work.run, work.all_steps, work.matching);
  if (work.other_jobs.empty()) return;
  if (work.run.quality().of(Counter::jobs_mixed) == 0) work.quality.add(Counter::jobs_mixed);
  work.report.steps = work.all_steps = unavailable(work.other_jobs);
  work.report.steps_recorded.reset();
  work.report.collectives = work.matching.section = unavailable(work.other_jobs);
}

void run_ranks(Work& work) {
  refuse_other_jobs(work);
  work.report.rank_rows = split_ranks(work.run, work.report.steps, work.matching, work.options);
  if (work.report.rank_rows) describe_devices(work.run, work.report.steps, *work.report.rank_rows);
}

void run_trend(Work& work) { work.report.trend = find_trend(work.report.steps, work.report.rank_rows); }

void run_efficiency(Work& work) {
  if (!work.other_jobs.empty()) {
    work.report.efficiency = unavailable(work.other_jobs);
    return;
  }
  work.report.efficiency = find_efficiency(work.run, work.report.steps, work.report.rank_rows);
}

void run_blame(Work& work) {
  BlameResult found =
      find_blame(work.run, work.clocks, work.report.steps, work.report.rank_rows, work.matching, work.options);
  work.report.blame = std::move(found.section);
  work.waits_of_units = std::move(found.waits_ns);
}

void run_bandwidth(Work& work) {
  work.report.bandwidth =
      find_bandwidth(work.run, work.clocks, work.report.steps, work.report.rank_rows, work.matching, work.options);
}

void run_data_loading(Work& work) {
  work.report.data_loading = find_data_loading(work.run, work.report.steps, work.options);
}

void run_overlap(Work& work) {
  work.report.overlap = find_overlap(work.run, work.report.steps, work.report.rank_rows, work.matching, work.options);
}

void run_launches(Work& work) { work.report.launches = launches_of(work.run, work.report.steps, work.options); }

void run_kernels(Work& work) { work.report.kernels = tabulate_kernels(work.run, work.report.steps, work.options); }

void run_fusable(Work& work) { work.report.fusable = find_fusable(work.run, work.report.steps, work.options); }

void run_operators(Work& work) {
  work.report.operators = tabulate_operators(work.run, work.report.steps, work.options);
}

void run_copies(Work& work) {
  work.report.copies = tabulate_copies(work.run, work.report.steps, work.all_steps, work.options);
}

void run_flops(Work& work) {
  work.report.flops = count_flops(work.run, work.report.steps, work.report.rank_rows, work.options);
}

void run_memory(Work& work) {
  work.report.memory = memory_of(work.run, work.report.steps, work.report.rank_rows, work.options);
  if (work.report.rank_rows) fill_memory_peaks(work.report.memory, *work.report.rank_rows);
}

void run_predicted(Work& work) { work.report.predicted = find_predicted(work.run, work.report.steps, work.options); }

/// Where nothing tells what a rank did, there is nothing to replay.
Section<replay::Graph> graph_of(const Work& work) {
  if (!work.other_jobs.empty()) return unavailable(work.other_jobs);
  if (!work.report.rank_rows) return unavailable(work.report.rank_rows.error().why);
  return replay::build_graph(work.run, work.report.steps, work.matching, work.clocks);
}

void run_critical_path(Work& work) {
  work.graph = graph_of(work);
  if (!work.graph) {
    work.report.critical_path = unavailable(work.graph.error().why);
    if (work.report.blame) work.report.blame->with_slack_ns = unavailable(work.graph.error().why);
    return;
  }
  const std::vector<std::int64_t> slack = replay::slack_of(*work.graph);
  work.report.critical_path = replay::critical_path(*work.graph, slack);
  if (!work.report.blame) return;
  const std::span<const Unit> units = work.matching.section->units;
  set_slack(work.run, units, replay::units_with_slack(*work.graph, slack, units), work.waits_of_units,
            *work.report.blame);
}

void run_what_if(Work& work) {
  if (!work.graph) {
    work.report.what_if = unavailable(work.graph.error().why);
  } else {
    const auto classes = replay::classes_of(work.run, *work.graph, work.report.steps, work.report.rank_rows);
    work.report.what_if = replay::what_if(*work.graph, replay::ItemPeers(*work.graph, classes));
  }
  if (!work.report.efficiency) return;
  const auto& replayed = work.report.what_if;
  set_network(*work.report.efficiency, replayed
                                           ? Section<NetworkReplay>{{replayed->replayed_ns, replayed->ideal_network_ns}}
                                           : unavailable(replayed.error().why));
}

void run_pipeline(Work& work) {
  work.report.pipeline = work.other_jobs.empty() ? find_pipeline(work.run, work.clocks, work.report.steps)
                                                 : Section<PipelineSection>{unavailable(work.other_jobs)};
}

void run_stragglers(Work& work) {
  if (!work.other_jobs.empty()) {
    work.report.stragglers = unavailable(work.other_jobs);
    return;
  }
  work.report.stragglers = find_stragglers(work.run, work.report.steps, work.report.rank_rows, work.report.collectives);
  if (work.report.stragglers && work.report.steps)
    add_device_evidence(work.run, *work.report.steps, *work.report.stragglers);
  if (work.report.stragglers && work.report.what_if) set_replayed_gains(*work.report.what_if, *work.report.stragglers);
}

void run_findings(Work& work) {
  if (!work.other_jobs.empty()) {
    work.report.findings = unavailable(work.other_jobs);
    return;
  }
  work.report.findings =
      judge_findings(work.run, work.report, work.options, find_lost_ranks(work.run, work.all_steps, work.clocks));
}

void run_hta(Work& work) {
  if (work.options.hta) work.report.hta = hta_numbers(work.recorded, *work.options.hta);
}

struct Analysis {
  AnalysisInfo info;
  void (*run)(Work& work);
  std::string (*why_missing)(const Report& report);
};

template <auto section>
std::string why_missing_of(const Report& report) {
  return report.*section ? std::string{} : (report.*section).error().why;
}

std::string why_no_hta(const Report& report) {
  if (!report.hta) return "--hta-compat was not given";
  return *report.hta ? std::string{} : report.hta->error().why;
}

// Order matters: each one reads the sections of those above it.
constexpr std::array registry{
    Analysis{{"steps", "Where does each step begin and end, and how long is it?"},
             run_steps,
             why_missing_of<&Report::steps>},
    Analysis{{"collectives", "Which operations belong together, who came last, how much was waiting?"},
             run_collectives,
             why_missing_of<&Report::collectives>},
    Analysis{{"ranks", "Where did the time of each rank go?"}, run_ranks, why_missing_of<&Report::rank_rows>},
    Analysis{{"trend", "Did steps become longer or shorter, which ones stand out, and why?"},
             run_trend,
             why_missing_of<&Report::trend>},
    Analysis{{"efficiency", "What share of the ranks' time computes, and what takes the rest?"},
             run_efficiency,
             why_missing_of<&Report::efficiency>},
    Analysis{{"blame", "Who made others wait, with what, and where did it begin?"},
             run_blame,
             why_missing_of<&Report::blame>},
    Analysis{{"bandwidth", "How fast did data move, and which paths are slower than their like?"},
             run_bandwidth,
             why_missing_of<&Report::bandwidth>},
    Analysis{{"data_loading", "Who waits for data, and do its loader's workers keep up?"},
             run_data_loading,
             why_missing_of<&Report::data_loading>},
    Analysis{{"overlap", "How much communication hides behind compute, and what does it slow down?"},
             run_overlap,
             why_missing_of<&Report::overlap>},
    Analysis{{"launches", "How well does the host feed the streams of its accelerator?"},
             run_launches,
             why_missing_of<&Report::launches>},
    Analysis{{"kernels", "Which kernels and copies took the time, and what ran together?"},
             run_kernels,
             why_missing_of<&Report::kernels>},
    Analysis{
        {"fusable", "Which sequences of small kernels could be one?"}, run_fusable, why_missing_of<&Report::fusable>},
    Analysis{{"operators", "Which operators and annotations took the time of host and device?"},
             run_operators,
             why_missing_of<&Report::operators>},
    Analysis{{"copies", "How fast are copies, and what makes the host wait for the device?"},
             run_copies,
             why_missing_of<&Report::copies>},
    Analysis{
        {"memory", "How much memory is used, by whom, and is it enough?"}, run_memory, why_missing_of<&Report::memory>},
    Analysis{{"predicted", "Do ranks hold and send what the trainer predicted?"},
             run_predicted,
             why_missing_of<&Report::predicted>},
    Analysis{{"flops", "How much was computed, and what keeps the devices from their peak?"},
             run_flops,
             why_missing_of<&Report::flops>},
    Analysis{{"critical_path", "What determined how long the steps are?"},
             run_critical_path,
             why_missing_of<&Report::critical_path>},
    Analysis{
        {"what_if", "What would steps cost if something were fixed?"}, run_what_if, why_missing_of<&Report::what_if>},
    Analysis{{"pipeline", "Which pipeline schedule ran, how much of it stood still, and how much had to?"},
             run_pipeline,
             why_missing_of<&Report::pipeline>},
    Analysis{{"stragglers", "Which rank is slow, since when, and why?"},
             run_stragglers,
             why_missing_of<&Report::stragglers>},
    Analysis{{"findings", "What is wrong, how bad is it, and what does fixing it give back?"},
             run_findings,
             why_missing_of<&Report::findings>},
    Analysis{{"hta", "What does HTA say of the same trace, and where is it wrong?"}, run_hta, why_no_hta},
};

constexpr auto infos = [] {
  std::array<AnalysisInfo, registry.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = registry[i].info;
  return all;
}();

void fill_head(Work& work) {
  Report& report = work.report;
  const RunInfo& info = work.run.info();
  report.source = info.source;
  report.ranks.assign(work.run.ranks().begin(), work.run.ranks().end());
  report.world_size = std::max(info.world_size, static_cast<std::int64_t>(report.ranks.size()));
  report.duration_ns = work.run.extent().length().count();
  report.facts = facts_of(work.run);
  report.asked_for = {work.options.steps, work.options.ranks};
}

/// Samples of the steps asked for; all of them where these are unknown (the report says so).
void fill_rank_facts(Work& work) {
  const bool limited = work.options.steps && work.report.steps;
  work.report.rank_facts = rank_facts_of(work.run, limited ? &*work.report.steps : nullptr);
}

std::vector<std::string> places_of(const Run& run, Counter counter) {
  std::vector<std::string> where;
  for (const QualityPlace& place : run.info().places)
    if (place.counter == counter) where.push_back(place.where);
  return where;
}

/// Every counter above 0. What a reader counted already (absent ranks, for example) is not counted twice.
void fill_quality(Work& work) {
  const auto present = static_cast<std::int64_t>(work.run.ranks().size());
  const bool absent = work.run.info().world_size > present && work.run.quality().of(Counter::ranks_missing) == 0;
  if (absent)
    work.quality.add(Counter::ranks_missing, static_cast<std::uint64_t>(work.run.info().world_size - present));
  if (work.run.quality().of(Counter::pace_overruns) == 0)
    work.quality.add(Counter::pace_overruns, pace_overruns_of(work.run));
  for (const CounterInfo& info : counter_table()) {
    const std::uint64_t value = work.run.quality().of(info.counter) + work.quality.of(info.counter);
    if (value > 0) work.report.data_quality.push_back({info.counter, value, places_of(work.run, info.counter)});
  }
}

}  // namespace

std::span<const AnalysisInfo> analyses() { return infos; }

Report analyze(const Run& recorded, const ReportOptions& options) {
  Alignment aligned = align_clocks(recorded);
  const Run& run = aligned.moved ? *aligned.moved : recorded;
  Work work{recorded,
            run,
            options,
            ClockTrust(run, std::move(aligned.model)),
            unavailable("not computed"),
            {},
            aligned.quality,
            {},
            {},
            {}};
  work.report.in_run_time = aligned.moved;
  work.report.clock = std::move(aligned.clock);
  work.report.clocks = std::move(aligned.section);
  fill_head(work);
  for (const Analysis& analysis : registry) analysis.run(work);
  fill_rank_facts(work);
  fill_quality(work);
  work.report.collectives = collectives_asked_for(run, work.clocks, work.matching, work.report.steps, options);
  keep_ranks_asked_for(work.report, options);
  return std::move(work.report);
}

std::string why_missing(const Report& report, std::string_view id) {
  return std::ranges::find(registry, id, [](const Analysis& analysis) { return analysis.info.id; })
      ->why_missing(report);
}

bool wants(const ReportOptions& options, std::string_view id) {
  return options.only.empty() || std::ranges::find(options.only, id) != options.only.end();
}

bool anything_computed(const Report& report, const ReportOptions& options) {
  return std::ranges::any_of(registry, [&](const Analysis& analysis) {
    // Sampled sizes of processes are no result, unless they were asked for.
    if (analysis.info.id == "memory" && options.only.empty() && report.memory && report.memory->devices.empty())
      return false;
    return wants(options, analysis.info.id) && analysis.why_missing(report).empty();
  });
}

}  // namespace rankscope::analyzer
