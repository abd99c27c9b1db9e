// The Report: everything the analyses found out about one Run, as plain data. Rendered as text and JSON
// (schema rankscope.report/1). Its sections are declared beside this file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/analyzer/bandwidth/section.h"
#include "rankscope/analyzer/blame/section.h"
#include "rankscope/analyzer/clocks/section.h"
#include "rankscope/analyzer/collectives/section.h"
#include "rankscope/analyzer/copies/section.h"
#include "rankscope/analyzer/critical_path/section.h"
#include "rankscope/analyzer/data_loading/section.h"
#include "rankscope/analyzer/efficiency/section.h"
#include "rankscope/analyzer/flops/section.h"
#include "rankscope/analyzer/fusable/section.h"
#include "rankscope/analyzer/hta/section.h"
#include "rankscope/analyzer/kernels/section.h"
#include "rankscope/analyzer/launches/section.h"
#include "rankscope/analyzer/memory/section.h"
#include "rankscope/analyzer/operators/section.h"
#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/overlap/section.h"
#include "rankscope/analyzer/pipeline/section.h"
#include "rankscope/analyzer/predicted/section.h"
#include "rankscope/analyzer/python_stacks/section.h"
#include "rankscope/analyzer/rules/finding.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "rankscope/analyzer/stragglers/section.h"
#include "rankscope/analyzer/tcp_links/section.h"
#include "rankscope/analyzer/thinned/section.h"
#include "rankscope/analyzer/trend/section.h"
#include "rankscope/analyzer/what_if/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// A counter that is not 0, and the inputs that raised it.
struct QualityRow {
  Counter counter;
  std::uint64_t value = 0;
  std::vector<std::string> where{};  ///< files and ranks, where they are known
};

/// The part of the run that is shown; nothing set = all of it.
struct AskedFor {
  std::optional<StepRange> steps;
  std::vector<RankId> ranks;
  std::vector<Straggler> slow_ranks_left_out{};  ///< worst first
  std::vector<RankRow> rows_left_out{};          ///< of the other ranks, for what compares with all
};

/// Everything that text, JSON, page and viewer show of a run; a section is there, or says why it is not.
struct Report {
  std::string source;
  std::vector<RankId> ranks;  ///< of the run, shown or not
  std::int64_t world_size = 0;
  std::int64_t duration_ns = 0;
  ClockInfo clock;
  ClocksSection clocks;
  std::shared_ptr<const Run> in_run_time;  ///< what was analyzed; null: the run as it was recorded
  AskedFor asked_for;
  std::optional<StepRange> steps_recorded;  ///< by all ranks; whatever was asked for
  std::string why_not_compared;             ///< RankRow::why_no_comm: nothing that compares own times is computed
  bool uses_pytorch = false;                ///< operators or kernels of it were recorded
  std::vector<RankFacts> rank_facts;        ///< by rank
  Section<StepsSection> steps = unavailable("not computed");
  Section<std::vector<RankRow>> rank_rows = unavailable("not computed");
  Section<TrendSection> trend = unavailable("not computed");
  Section<DataLoadingSection> data_loading = unavailable("not computed");
  Section<PythonStacksSection> python_stacks = unavailable("not computed");
  Section<OverlapSection> overlap = unavailable("not computed");
  Section<LaunchesSection> launches = unavailable("not computed");
  Section<KernelsSection> kernels = unavailable("not computed");
  Section<FusableSection> fusable = unavailable("not computed");
  Section<OperatorsSection> operators = unavailable("not computed");
  Section<CopiesSection> copies = unavailable("not computed");
  Section<FlopsSection> flops = unavailable("not computed");
  Section<MemorySection> memory = unavailable("not computed");
  Section<PredictedSection> predicted = unavailable("not computed");
  Section<PipelineSection> pipeline = unavailable("not computed");
  Section<CollectivesSection> collectives = unavailable("not computed");
  Section<CriticalPathSection> critical_path = unavailable("not computed");
  Section<WhatIfSection> what_if = unavailable("not computed");
  Section<BandwidthSection> bandwidth = unavailable("not computed");
  Section<TcpLinksSection> tcp_links = unavailable("not computed");
  Section<EfficiencySection> efficiency = unavailable("not computed");
  Section<BlameSection> blame = unavailable("not computed");
  Section<StragglersSection> stragglers = unavailable("not computed");
  Section<std::vector<Finding>> findings = unavailable("not computed");
  std::optional<ThinnedSection> thinned;                   ///< only if steps were thinned out
  std::optional<Section<HtaSection>> hta;                  ///< only if asked for
  std::vector<QualityRow> data_quality;                    ///< every counter > 0, of the run and of the analyses
  std::vector<std::pair<std::string, std::string>> facts;  ///< printed in the head: model, pace, parallel, data, ...
  std::int64_t began_unix_ns = 0;                          ///< when the recording begins; 0: not recorded
};

/// Finds every section. There is always a report: a section that cannot be computed says why.
[[nodiscard]] Report analyze(const Run& run, const ReportOptions& options);

/// False if no section that is wanted could be computed: the run is readable, but says nothing (exit status 4).
[[nodiscard]] bool anything_computed(const Report& report, const ReportOptions& options);
/// Why a section of sections() could not be computed; empty if it was.
[[nodiscard]] std::string why_missing(const Report& report, std::string_view id);
/// What readers miss of it: why it could not be computed, unless nobody misses it, or what it lacks; empty: nothing.
[[nodiscard]] std::string why_missed(const Report& report, std::string_view id);

/// The recorder wrote that some of its processes had not ended.
[[nodiscard]] bool still_runs(const Report& report);
/// That something is missing or wrong in what was recorded, so that a problem may be hidden; empty if nothing is. Ranks
/// without a recording are not meant.
[[nodiscard]] std::string_view lost_evidence(const Report& report);

/// A section of the report, as its readers see it.
struct SectionInfo {
  std::string_view id;  ///< as in --only and, mostly, the JSON report
  std::string_view title;
  std::string_view question;  ///< what it answers
};
/// Ids that are known beside their rows.
namespace section_id {
inline constexpr std::string_view steps = "steps";
inline constexpr std::string_view ranks = "ranks";
inline constexpr std::string_view stragglers = "stragglers";
inline constexpr std::string_view collectives = "collectives";
}  // namespace section_id
/// All that can be chosen, in the order of the report.
[[nodiscard]] std::span<const SectionInfo> sections();

/// The table of the rules that make findings, as docs/findings.md has it.
[[nodiscard]] std::string rules_as_markdown();

}  // namespace rankscope::analyzer
