// A section is one row here and one folder: find.cpp, parts.h and what parts.h declares.
#include "sections.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "alignment/parts.h"
#include "bandwidth/parts.h"
#include "blame/parts.h"
#include "collectives/parts.h"
#include "copies/parts.h"
#include "critical_path/parts.h"
#include "data_loading/parts.h"
#include "devices/parts.h"
#include "efficiency/parts.h"
#include "facts/parts.h"
#include "findings/parts.h"
#include "flops/parts.h"
#include "fusable/parts.h"
#include "hta/parts.h"
#include "kept_ranks.h"
#include "kernels/parts.h"
#include "launches/parts.h"
#include "memory/parts.h"
#include "operators/parts.h"
#include "overlap/parts.h"
#include "pipeline/parts.h"
#include "predicted/parts.h"
#include "python_stacks/parts.h"
#include "quality/parts.h"
#include "render/json_parts.h"
#include "section_adapters.h"
#include "section_finders.h"
#include "split/parts.h"
#include "steps/parts.h"
#include "stragglers/parts.h"
#include "tcp_links/parts.h"
#include "thinned/parts.h"
#include "trend/parts.h"
#include "verdict/verdict.h"
#include "what_if/parts.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// A row that shows nothing of its own is left out where another part of the section shows it.
constexpr std::array rows{
    SectionRow{.id = "verdict",
               .title = "Verdict",
               .text = add_verdict,
               .brief = brief_of<add_verdict>,
               .brief_lines = 20,
               .chart = html::write_verdict},
    SectionRow{
        .id = "head", .title = "", .part_of = "steps", .text = add_head, .brief = add_brief_head, .brief_lines = 8},
    SectionRow{.id = "thinned",
               .title = "Thinned steps",
               .part_of = "steps",
               .keep_ranks = keep_thinned_ranks,
               .text = add_thinned,
               .brief = add_brief_thinned,
               .brief_lines = 4,
               .chart = html::write_thinned,
               .json_place = 28,
               .json_key = "thinned_steps",
               .json = thinned_json_of},
    SectionRow{
        .id = section_id::stragglers,
        .title = "Slow ranks",
        .question = "Which rank is slow, since when, and why?",
        .needs = "ranks collectives what_if tcp_links",
        .find = find_by_sums_or_where_compared<&Report::stragglers, find_slow_ranks>,
        .absence = absence_in<&Report::stragglers>,
        .remedy = remedy_for_stragglers,
        .keep_ranks = keep_slow_ranks,
        .text = add_stragglers,
        .chart = html::write_slow_ranks,
        .json_place = 19,
        .json = json_as<&Report::stragglers, [](const auto& found) { return list_json(found.rows, straggler_json); }>},
    SectionRow{.id = "straggler_basis",
               .title = "",
               .part_of = "stragglers",
               .json_place = 20,
               .json = json_as<&Report::stragglers, straggler_basis_json>},
    SectionRow{.id = "findings",
               .title = "Findings",
               .question = "What is wrong, how bad is it, and what would fixing it save?",
               .needs = "*",
               .find = find_in_one_job<&Report::findings, find_findings>,
               .absence = absence_in<&Report::findings>,
               .keep_ranks = keep_findings,
               .text = add_findings,
               .brief = add_brief_findings,
               .chart = html::write_findings,
               .json_place = 24,
               .json = json_as<&Report::findings, [](const auto& found) { return list_json(found, finding_json); }>},
    SectionRow{.id = "what_if",
               .title = "What if",
               .question = "How long would steps be if something were fixed?",
               .needs = "critical_path efficiency",
               .find = find_what_if,
               .absence = absence_in<&Report::what_if>,
               .tables = what_if_tables,
               .json_place = 23,
               .json = json_as<&Report::what_if, what_if_json>},
    SectionRow{.id = "critical_path",
               .title = "Critical path",
               .question = "What determines how long the steps are?",
               .needs = "ranks blame",
               .find = find_critical_path,
               .absence = absence_in<&Report::critical_path>,
               .tables = critical_path_tables,
               .chart = html::write_critical_path,
               .json_place = 21,
               .json = json_as<&Report::critical_path, critical_path_json>},
    SectionRow{.id = section_id::steps,
               .title = "Steps",
               .question = "Where does each step begin and end, and how long is it?",
               .find = find_all_steps,
               .absence = absence_in<&Report::steps>,
               .remedy = remedy_for_steps,
               .chart = html::write_steps,
               .json_place = 1,
               .json = json_as<&Report::steps, [](const auto& found) { return list_json(found.steps, step_json); }>},
    SectionRow{.id = "trend",
               .title = "Steps over time",
               .question = "Did steps become longer or shorter, which ones stand out, and why?",
               .needs = "ranks",
               .find = find_trends,
               .absence = absence_in<&Report::trend>,
               .text = add_trend,
               .chart = html::write_trend,
               .json_place = 4,
               .json = json_as<&Report::trend, trend_json>},
    SectionRow{.id = "processes",
               .title = "Ranks",
               .part_of = "ranks",
               .keep_ranks = keep_rank_facts,
               .text = add_rank_facts,
               .chart = html::write_ranks,
               .json_place = 3,
               .json_key = "rank_facts",
               .json = [](const Source& source) { return list_json(source.report.rank_facts, facts_json); }},
    SectionRow{.id = section_id::ranks,
               .title = "Where the time went",
               .question = "Where did the time of each rank go?",
               .needs = "steps collectives",
               .find = find_ranks,
               .absence = absence_in<&Report::rank_rows>,
               .remedy = remedy_for_ranks,
               .keep_ranks = keep_rank_rows,
               .text = add_rank_tables,
               .brief = add_rank_bars,
               .brief_lines = 15,
               .chart = html::write_split,
               .json_place = 2,
               .json = json_as<&Report::rank_rows, [](const auto& found) { return ranks_json(found, devices_json); }>},
    SectionRow{.id = "rank_steps", .title = "Ranks and steps", .part_of = "ranks", .chart = html::write_heat_maps},
    SectionRow{.id = "idle", .title = "Why nothing ran", .part_of = "ranks", .tables = idle_tables},
    SectionRow{.id = "devices", .title = "Devices", .part_of = "ranks", .tables = device_tables},
    SectionRow{.id = "efficiency",
               .title = "Efficiency",
               .question = "What share of the ranks' time is compute, and what takes the rest?",
               .needs = "ranks",
               .find = find_where_compared<&Report::efficiency, find_efficiencies>,
               .absence = absence_in<&Report::efficiency>,
               .text = add_efficiency,
               .chart = html::write_efficiency,
               .json_place = 17,
               .json = json_as<&Report::efficiency, efficiency_json>},
    SectionRow{.id = "blame",
               .title = "Who made others wait",
               .question = "Which rank made others wait, what was it doing, and where did the delay begin?",
               .needs = "ranks",
               .find = find_blame_and_waits,
               .absence = absence_of_blame,
               .text = add_blame,
               .chart = html::write_blame,
               .json_place = 18,
               .json = json_as<&Report::blame, blame_json>},
    SectionRow{.id = "data_loading",
               .title = "Data loading",
               .question = "Who waits for data, and do the loader's workers keep up?",
               .needs = "ranks",
               .find = find_as<&Report::data_loading, find_data_loading>,
               .absence = absence_in<&Report::data_loading>,
               .tables = data_loading_tables,
               .json_place = 5,
               .json = json_as<&Report::data_loading, data_loading_json>},
    SectionRow{.id = "python_stacks",
               .title = "Python code",
               .question = "In which lines of their Python code do the ranks spend their time?",
               .needs = "steps",
               .find = find_as<&Report::python_stacks, find_python_stacks>,
               .absence = absence_in<&Report::python_stacks>,
               .tables = python_stacks_tables,
               .json_place = 26,
               .json = json_as<&Report::python_stacks, python_stacks_json>},
    SectionRow{.id = "overlap",
               .title = "Overlap",
               .question = "How much communication is hidden behind compute, and which kernels does it slow down?",
               .needs = "ranks",
               .find = find_as<&Report::overlap, find_overlap>,
               .absence = absence_in<&Report::overlap>,
               .tables = overlap_tables,
               .json_place = 6,
               .json = json_as<&Report::overlap, overlap_json>},
    SectionRow{
        .id = "launches",
        .title = "Launches",
        .question = "How well does the host feed the streams of its accelerator?",
        .needs = "ranks",
        .find = find_as<&Report::launches, launches_of>,
        .absence = absence_in<&Report::launches>,
        .tables = launch_tables,
        .json_place = 7,
        .json = json_as<&Report::launches, [](const auto& found) { return list_json(found.rows, launch_json); }>},
    SectionRow{.id = "kernels",
               .title = "Kernels",
               .question = "Which kernels and copies took the time, and which ran at the same time?",
               .needs = "ranks",
               .find = find_as<&Report::kernels, tabulate_kernels>,
               .absence = absence_in<&Report::kernels>,
               .tables = kernel_tables,
               .json_place = 8,
               .json = json_as<&Report::kernels, kernels_json>},
    SectionRow{.id = "fusable",
               .title = "Sequences worth fusing",
               .question = "Which sequences of small kernels could be one kernel?",
               .needs = "ranks",
               .find = find_as<&Report::fusable, find_fusable>,
               .absence = absence_in<&Report::fusable>,
               .tables = fusable_tables,
               .json_place = 9,
               .json = json_as<&Report::fusable, fusable_json>},
    SectionRow{.id = "operators",
               .title = "Operators",
               .question = "Which operators and annotations took time on the host and on the device?",
               .needs = "ranks",
               .find = find_as<&Report::operators, tabulate_operators>,
               .absence = absence_in<&Report::operators>,
               .tables = operator_tables,
               .json_place = 10,
               .json = json_as<&Report::operators, operators_json>},
    SectionRow{.id = "copies",
               .title = "Copies",
               .question = "How fast are copies, and what makes the host wait for the device?",
               .needs = "ranks",
               .find = find_copies,
               .absence = absence_in<&Report::copies>,
               .tables = copy_tables,
               .json_place = 11,
               .json = json_as<&Report::copies, copies_json>},
    SectionRow{.id = "memory",
               .title = "Memory",
               .question = "How much memory is used, by what, and how much is left?",
               .needs = "ranks",
               .find = find_memory,
               .absence = absence_in<&Report::memory>,
               .remedy = remedy_for_memory,
               .is_result = has_device_memory,
               .keep_ranks = keep_memory,
               .tables = memory_tables,
               .chart = html::write_memory,
               .json_place = 13,
               .json = json_as<&Report::memory,
                               [](const MemorySection& found, const Source& source) {
                                 return memory_json(found, source.report.copies, source.options);
                               }>},
    SectionRow{.id = "predicted",
               .title = "Predicted and measured",
               .question = "Do ranks allocate and send as much as the trainer predicted?",
               .needs = "ranks",
               .find = find_as<&Report::predicted, find_predicted>,
               .absence = absence_in<&Report::predicted>,
               .tables = predicted_tables,
               .json_place = 14,
               .json = json_as<&Report::predicted, predicted_json>},
    SectionRow{.id = "flops",
               .title = "FLOP and lost time",
               .question = "How much was computed, and what keeps the devices from reaching their peak?",
               .needs = "ranks",
               .find = find_as<&Report::flops, count_flops>,
               .absence = absence_in<&Report::flops>,
               .lacks = why_no_flops,
               .tables = flop_tables,
               .chart = html::write_flops,
               .json_place = 12,
               .json = json_as<&Report::flops, flops_json>},
    SectionRow{
        .id = "pipeline",
        .title = "Pipeline",
        .question =
            "Which pipeline schedule was used, how long were the ranks idle, and how much of the idle time cannot be "
            "avoided?",
        .needs = "ranks",
        .find = find_in_one_job<&Report::pipeline, find_schedules>,
        .absence = absence_in<&Report::pipeline>,
        .keep_ranks = keep_pipeline_ranks,
        .text = add_pipeline,
        .chart = html::write_pipeline,
        .json_place = 22,
        .json = json_as<&Report::pipeline, pipeline_json>},
    SectionRow{
        .id = section_id::collectives,
        .title = "Collectives",
        .question = "Which operations belong together, who was last to arrive, and how much of the time was waiting?",
        .needs = "steps",
        .find = find_collectives,
        .absence = absence_in<&Report::collectives>,
        .remedy = remedy_for_collectives,
        .tables = collective_tables,
        .json_place = 15,
        .json = json_as<&Report::collectives,
                        [](const CollectivesSection& found, const Source& source) {
                          // Its ids are those of the run that was analyzed.
                          const Run& run = source.report.in_run_time ? *source.report.in_run_time : source.run;
                          return collectives_json(found, run, source.options);
                        }>},
    SectionRow{.id = "clocks", .title = "Clocks", .part_of = "collectives", .chart = html::write_clocks},
    SectionRow{.id = "bandwidth",
               .title = "Bandwidth",
               .question = "How fast did data move, and which paths are slower than comparable ones?",
               .needs = "ranks",
               .find = find_bandwidths,
               .absence = absence_in<&Report::bandwidth>,
               .text = add_bandwidth,
               .chart = html::write_bandwidth,
               .json_place = 16,
               .json = json_as<&Report::bandwidth, bandwidth_json>},
    SectionRow{.id = "tcp_links",
               .title = "TCP connections",
               .question = "Between which ranks does data wait for a slow network?",
               .needs = "ranks",
               .find = find_as<&Report::tcp_links, find_tcp_links>,
               .absence = absence_in<&Report::tcp_links>,
               .tables = tcp_link_tables,
               .json_place = 27,
               .json = json_as<&Report::tcp_links, tcp_links_json>},
    SectionRow{.id = "hta",
               .title = "HTA's numbers",
               .question = "What does HolisticTraceAnalysis (HTA) say about the same trace, and where is HTA wrong?",
               .find = find_numbers_of_hta,
               .absence = absence_of_hta,
               .keep_ranks = keep_hta_ranks,
               .text = add_hta,
               .chart = html::write_hta,
               .json_place = 25,
               .json_key = "hta_compat",
               .json =
                   [](const Source& source) {
                     return source.report.hta ? hta_json(*source.report.hta) : Json{};  // null: not asked for, left out
                   }},
    SectionRow{.id = "data_quality",
               .title = "Data quality",
               .text = add_quality,
               .brief = add_brief_quality,
               .brief_lines = 1,
               .chart = html::write_quality},
    SectionRow{.id = "missing",
               .title = "Not available",
               .text = add_missing,
               .brief = add_brief_missing,
               .brief_lines = 6,
               .chart = html::write_missing},
    SectionRow{.id = "run", .title = "About the run", .part_of = "steps", .chart = html::write_about},
};

constexpr auto infos = [] {
  std::array<SectionInfo, std::ranges::count_if(rows, [](const SectionRow& row) { return !row.question.empty(); })>
      all{};
  std::size_t next = 0;
  for (const SectionRow& row : rows)
    if (!row.question.empty()) all[next++] = {row.id, row.title, row.question};
  return all;
}();

}  // namespace

std::span<const SectionRow> section_rows() { return rows; }

const SectionRow* section_row(std::string_view id) {
  const auto* found =
      std::ranges::find_if(rows, [&](const SectionRow& row) { return row.id == id && !row.question.empty(); });
  return found == rows.end() ? nullptr : found;
}

bool is_shown(const SectionRow& row, const ReportOptions& options) {
  return options.only.empty() || (!row.chosen_by().empty() && wants(options, row.chosen_by()));
}

std::span<const SectionInfo> sections() { return infos; }

}  // namespace rankscope::analyzer
