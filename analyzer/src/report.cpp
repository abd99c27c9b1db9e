// Finds the sections of a report, each after those that it needs, and what is said around them.
#include "rankscope/analyzer/report.h"

#include <algorithm>
#include <set>

#include "alignment/align.h"
#include "collectives/asked_for.h"
#include "facts/run_facts.h"
#include "quality/parts.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/core/model/run.h"
#include "sections.h"
#include "verdict/doubts.h"

namespace rankscope::analyzer {
namespace {

bool is_word_of(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool needs(const SectionRow& row, const SectionRow& other) {
  if (&row == &other || other.find == nullptr) return false;
  return row.needs == "*" ? other.needs != "*" : is_word_of(row.needs, other.id);
}

/// Finds a section after those that it needs, each once.
void find_section(Work& work, const SectionRow& row, std::set<const SectionRow*>& found) {
  if (row.find == nullptr || !found.insert(&row).second) return;
  for (const SectionRow& other : section_rows())
    if (needs(row, other)) find_section(work, other, found);
  row.find(work);
}

/// True if operators or kernels of PyTorch were recorded, by anything in the run.
bool uses_pytorch(const Run& run) {
  if (run.info().source == "kineto") return true;  // the profiler of PyTorch
  for (std::uint32_t i = 0; i < run.strings().size(); ++i) {
    const std::string_view name = run.strings().text(StringId{i});
    if (name.starts_with("aten::") || name.find("at::native::") != name.npos) return true;
  }
  return false;
}

void fill_head(Work& work) {
  Report& report = work.report;
  const RunInfo& info = work.run.info();
  report.source = info.source;
  report.ranks.assign(work.run.ranks().begin(), work.run.ranks().end());
  report.world_size = std::max(info.world_size, static_cast<std::int64_t>(report.ranks.size()));
  report.duration_ns = work.run.extent().length().count();
  if (info.origin_unix_ns != 0) report.began_unix_ns = info.origin_unix_ns + ns_of(work.run.extent().begin);
  report.uses_pytorch = uses_pytorch(work.run);
  report.facts = facts_of(work.run);
  report.asked_for = {work.options.steps, work.options.ranks};
}

/// Samples of the steps asked for; all of them where these are unknown (the report says so).
void fill_rank_facts(Work& work) { work.report.rank_facts = rank_facts_of(work.run, work.report.steps, work.options); }

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
  std::set<const SectionRow*> found;
  for (const SectionRow& row : section_rows()) find_section(work, row, found);
  fill_rank_facts(work);
  fill_quality(work);
  work.report.collectives = collectives_asked_for(run, work.clocks, work.matching, work.report.steps, options);
  for (const SectionRow& row : section_rows())
    if (row.keep_ranks != nullptr) row.keep_ranks(work.report, options);
  return std::move(work.report);
}

std::string why_missing(const Report& report, std::string_view id) {
  const auto absence = section_row(id)->absence(report);
  return absence ? absence->why : std::string{};
}

std::string why_missed(const Report& report, std::string_view id) {
  const SectionRow& row = *section_row(id);
  if (const auto absence = row.absence(report)) return absence->missed == Missed::yes ? absence->why : std::string{};
  return row.lacks == nullptr ? std::string{} : row.lacks(report);
}

std::string remedy_for(const Report& report, std::string_view id) {
  if (counts(report, Counter::jobs_mixed)) return std::string{one_job_at_a_time};
  const SectionRow& row = *section_row(id);
  return row.remedy == nullptr ? std::string{} : row.remedy(report);
}

bool wants(const ReportOptions& options, std::string_view id) {
  return options.only.empty() || std::ranges::find(options.only, id) != options.only.end();
}

bool anything_computed(const Report& report, const ReportOptions& options) {
  return std::ranges::any_of(section_rows(), [&](const SectionRow& row) {
    if (row.question.empty() || !wants(options, row.id) || row.absence(report)) return false;
    return !options.only.empty() || row.is_result == nullptr || row.is_result(report);
  });
}

}  // namespace rankscope::analyzer
