#include <algorithm>
#include <nlohmann/json.hpp>

#include "rankscope/analyzer/render.h"
#include "data_loading/tables.h"
#include "bandwidth/json.h"
#include "blame/json.h"
#include "alignment/json.h"
#include "collectives/json.h"
#include "copies/json.h"
#include "efficiency/json.h"
#include "flops/json.h"
#include "hta/json.h"
#include "kernels/json.h"
#include "launches/json.h"
#include "memory/json.h"
#include "operators/json.h"
#include "overlap/json.h"
#include "render/json_parts.h"
#include "pipeline/json.h"
#include "split/json.h"
#include "critical_path/json.h"
#include "stragglers/json.h"
#include "trend/json.h"
#include "predicted/tables.h"
#include "words/source_advice.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json unavailable_json(std::string_view why) { return {{"unavailable", why}}; }

template <class T, class ToJson>
Json section_json(const Section<T>& section, ToJson to_json) {
  return section ? to_json(*section) : unavailable_json(section.error().why);
}

Json run_json(const Report& report) {
  Why why;
  Json run;
  run["source"] = report.source;
  run["ranks"] = report.ranks.size();
  run["world_size"] = report.world_size > 0 ? Json(report.world_size) : why.null("world_size", "");
  run["steps"] = report.steps ? Json(report.steps->steps.size()) : why.null("steps", report.steps.error().why);
  run["duration_ns"] = report.duration_ns;
  run["clock"]["method"] = report.clock.method;
  run["clock"]["error_ns"] = report.clock.method == "none" ? why.null("clock.error_ns", "no common clock of the ranks")
                                                           : Json(report.clock.error.count());
  add_clocks(run["clock"], report.clocks);
  std::move(why).attach(run);
  if (report.asked_for.steps)
    run["asked_for"]["steps"] = {report.asked_for.steps->first, report.asked_for.steps->second};
  for (const RankId rank : report.asked_for.ranks) run["asked_for"]["ranks"].push_back(rank.value);
  for (const Straggler& row : report.asked_for.slow_ranks_left_out)
    run["asked_for"]["slow_ranks_left_out"].push_back(row.rank.value);
  if (!report.facts.empty()) {
    auto& facts = run["facts"] = Json::object();
    for (const auto& [key, value] : report.facts) facts[key] = value;
  }
  return run;
}

Json step_json(const Step& step) {
  return {{"index", step.index},
          {"begin_ns", ns_of(step.time.begin)},
          {"end_ns", ns_of(step.time.end)},
          {"complete", step.complete},
          {"warm_up", step.warm_up}};
}

/// The sums are of all sequences, listed or not.
Json fusable_json(const FusableSection& section, const ReportOptions& options) {
  constexpr std::size_t fewest_rows = 100;
  Json out{{"kernel_ns", section.kernel_ns},
           {"gap_ns", section.gap_ns},
           {"window_ns", section.window_ns},
           {"count", section.sequences.size()}};
  const std::size_t shown = std::min(section.sequences.size(), std::max(fewest_rows, options.top));
  out["sequences"] = list_json(std::span{section.sequences}.first(shown), [](const FusableSequence& row) {
    return Json{{"kernels", row.kernels},
                {"length", row.length},
                {"count", row.count},
                {"kernel_ns", row.kernel_ns},
                {"gap_ns", row.gap_ns}};
  });
  return out;
}

Json finding_json(const Finding& row) {
  Json out{{"id", row.id},         {"severity", name_of(row.severity)},
           {"title", row.title},   {"evidence", row.evidence},
           {"advice", row.advice}, {"gain_ns_per_step", row.gain_ns_per_step}};
  if (!row.why_no_gain.empty()) {
    Why why;
    out["gain_ns_per_step"] = why.null("gain_ns_per_step", row.why_no_gain);
    std::move(why).attach(out);
  }
  if (row.rank) out["rank"] = row.rank->value;
  if (row.step) out["step"] = *row.step;
  return out;
}

Json quality_json(const QualityRow& row, std::string_view source) {
  const auto& info = info_of(row.counter);
  Json out{{"counter", info.name},
           {"value", row.value},
           {"severity", name_of(info.severity)},
           {"advice", advice_for(row.counter, source)}};
  if (!row.where.empty()) out["where"] = row.where;
  return out;
}

/// The analysis that a key belongs to.
std::string_view analysis_of(std::string_view key) {
  if (key == "rank_facts") return "ranks";
  if (key == "straggler_basis") return "stragglers";
  return key == "hta_compat" ? "hta" : key;
}

void keep_wanted(Json& out, const ReportOptions& options) {
  if (options.only.empty()) return;
  Json kept;
  for (const auto& [key, value] : out.items())
    if (key == "schema" || key == "run" || key == "data_quality" || wants(options, analysis_of(key))) kept[key] = value;
  out = std::move(kept);
}

}  // namespace

std::string render_json(const Report& report, const Run& run, const ReportOptions& options) {
  Json out;
  out["schema"] = "rankscope.report/1";
  out["run"] = run_json(report);
  out["steps"] = section_json(report.steps, [](const auto& steps) { return list_json(steps.steps, step_json); });
  out["ranks"] = section_json(report.rank_rows, ranks_json);
  out["rank_facts"] = list_json(report.rank_facts, facts_json);
  out["trend"] = section_json(report.trend, trend_json);
  out["data_loading"] = section_json(report.data_loading, data_loading_json);
  out["overlap"] = section_json(report.overlap, overlap_json);
  out["launches"] =
      section_json(report.launches, [](const auto& section) { return list_json(section.rows, launch_json); });
  out["kernels"] = section_json(report.kernels, [&](const auto& section) { return kernels_json(section, options); });
  out["fusable"] = section_json(report.fusable, [&](const auto& section) { return fusable_json(section, options); });
  out["operators"] =
      section_json(report.operators, [&](const auto& section) { return operators_json(section, options); });
  out["copies"] = section_json(report.copies, [&](const auto& section) { return copies_json(section, options); });
  out["flops"] = section_json(report.flops, [&](const auto& section) { return flops_json(section, options); });
  out["memory"] =
      section_json(report.memory, [&](const auto& section) { return memory_json(section, report.copies, options); });
  out["predicted"] = section_json(report.predicted, predicted_json);
  out["collectives"] =
      section_json(report.collectives, [&](const auto& section) { return collectives_json(section, run, options); });
  out["bandwidth"] = section_json(report.bandwidth, bandwidth_json);
  out["efficiency"] = section_json(report.efficiency, efficiency_json);
  out["blame"] = section_json(report.blame, blame_json);
  out["stragglers"] =
      section_json(report.stragglers, [](const auto& section) { return list_json(section.rows, straggler_json); });
  out["straggler_basis"] = section_json(report.stragglers, straggler_basis_json);
  out["critical_path"] =
      section_json(report.critical_path, [&](const auto& section) { return critical_path_json(section, options); });
  out["pipeline"] = section_json(report.pipeline, pipeline_json);
  out["what_if"] = section_json(report.what_if, what_if_json);
  out["findings"] = section_json(report.findings, [](const auto& rows) { return list_json(rows, finding_json); });
  if (report.hta) out["hta_compat"] = hta_json(*report.hta);
  out["data_quality"] =
      list_json(report.data_quality, [&](const QualityRow& row) { return quality_json(row, report.source); });
  keep_wanted(out, options);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rankscope::analyzer
