#include <nlohmann/json.hpp>

#include "compare/bootstrap.h"
#include "compare/key_changes.h"
#include "compare/words.h"
#include "render/json_parts.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr int ratio_digits = 6;  // enough for a ratio

Json rounded_or_null(const std::optional<double>& value) {
  return rounded(value, ratio_digits).value_or(Json(nullptr));
}

Json run_json(const ComparedRun& run) {
  Json out;
  out["name"] = run.name.path;
  out["source"] = run.source;
  out["ranks"] = run.ranks;
  out["world_size"] = run.world_size;
  out["counted_steps"] = run.counted_steps;
  put(out, "median_step_ns", run.median_ns, run.why_no_steps);
  put(out, "mean_step_ns", run.mean_ns, run.why_no_steps);
  out["losses"] = run.losses;
  out["lost"] = Json::array();
  for (const Loss& loss : run.lost)
    out["lost"].push_back({{"id", loss.id}, {"what", loss.what}, {"compared", loss.reach == LossReach::compared}});
  return out;
}

Json interval_json(const MeasureChange& change) {
  return {{"change", rounded(change.change, ratio_digits)},
          {"low", rounded(change.low, ratio_digits)},
          {"high", rounded(change.high, ratio_digits)}};
}

Json steps_json(const StepComparison& steps) {
  Json out;
  out["verdict"] = name_of(steps.verdict);
  out["change"] = rounded_or_null(steps.change);
  out["low"] = rounded_or_null(steps.low);
  out["high"] = rounded_or_null(steps.high);
  out["mean"] = steps.mean ? interval_json(*steps.mean) : Json(nullptr);
  out["judged_by"] = name_of(steps.judged_by);
  out["severity"] = name_of(steps.severity);
  if (!steps.why.empty()) out["why"] = steps.why;
  out["method"] = {{"interval", "moving-block bootstrap, 95 %"},
                   {"draws", bootstrap_draws},
                   {"seed", bootstrap_seed},
                   {"least_steps", least_compared_steps},
                   {"least_change", least_change}};
  return out;
}

/// A range to the end has none that holds for both runs.
Json steps_asked_for_json(const StepRange& steps) {
  return {steps.first, steps.second == to_the_end ? Json(nullptr) : Json(steps.second)};
}

Json change_json(std::int64_t a, std::int64_t b) { return {{"a_ns", a}, {"b_ns", b}, {"change_ns", b - a}}; }

Json split_json(const SplitChange& row) {
  Json out;
  out["who"] = row.who;
  out["ranks_a"] = ranks_json(row.ranks_a);
  out["ranks_b"] = ranks_json(row.ranks_b);
  out["rank_steps_a"] = row.a.rank_steps;
  out["rank_steps_b"] = row.b.rank_steps;
  out["window"] = change_json(row.a.window_ns, row.b.window_ns);
  for (std::size_t i = 0; i < split_part_count; ++i) {
    const auto part = static_cast<SplitPart>(i);
    out["parts"][name_of(part)] = change_json(row.a.of(part), row.b.of(part));
  }
  return out;
}

Json parts_json(const Section<SplitComparison>& split) {
  if (!split) return {{"unavailable", split.error().why}};
  Json out;
  out["mean_of"] = "step and rank";
  out["pairing"] = split->pairing;
  out["all"] = split_json(split->all);
  out["ranks"] = Json::array();
  for (const SplitChange& row : split->ranks) out["ranks"].push_back(split_json(row));
  return out;
}

Json key_json(const KeyChange& row, const KeyComparison& keys) {
  Json out;
  out["kind"] = name_of(row.key.kind);
  out["name"] = row.key.name;
  if (!row.key.detail.empty()) out["detail"] = row.key.detail;
  if (row.keys > 1) out["sum_of_keys"] = row.keys;
  put(out, "a_ns", row.a_ns, keys.why_no_mean_a);
  put(out, "b_ns", row.b_ns, keys.why_no_mean_b);
  const bool known = row.a_ns && row.b_ns;
  put(out, "change_ns", known ? std::optional{row.change_ns()} : std::nullopt, "one of the runs has no mean per step");
  out["count_a"] = row.count_a;
  out["count_b"] = row.count_b;
  out["median_a_ns"] = row.count_a > 0 && row.keys == 1 ? Json(row.median_a_ns) : Json(nullptr);
  out["median_b_ns"] = row.count_b > 0 && row.keys == 1 ? Json(row.median_b_ns) : Json(nullptr);
  if (row.q) out["q"] = rounded(*row.q, ratio_digits);
  return out;
}

Json keys_json(const KeyComparison& keys) {
  const auto list = [&keys](const std::vector<KeyChange>& rows) {
    Json out = Json::array();
    for (const KeyChange& row : rows) out.push_back(key_json(row, keys));
    return out;
  };
  const bool steps = keys.least_change_ns > 0;
  Json out;
  out["mean_of"] = "step and rank";
  out["counts_of"] = {{"a", keys.calls_a}, {"b", keys.calls_b}};
  out["least_change_ns"] = steps ? Json(keys.least_change_ns) : Json(nullptr);
  if (!steps) out["why"]["least_change_ns"] = keys.why_no_mean_a.empty() ? keys.why_no_mean_b : keys.why_no_mean_a;
  out["in_both"] = keys.in_both;
  out["tested"] = keys.tested;
  if (!keys.not_tested.empty()) out["not_tested"] = keys.not_tested;
  out["changed"] = list(keys.changed);
  out["maybe_chance"] = keys.maybe_chance;
  out["new"] = list(keys.appeared);
  out["gone"] = list(keys.gone);
  out["largest_below_limit"] = list(keys.below);
  out["small_new"] = keys.small_appeared;
  out["small_gone"] = keys.small_gone;
  out["medians"] = list(keys.medians);
  return out;
}

Json findings_json(const ComparedFindings& findings) {
  if (!findings.why_unknown.empty()) return {{"unavailable", findings.why_unknown}};
  const auto one = [](const Finding& row) {
    Json out{{"id", row.id}, {"severity", name_of(row.severity)}, {"title", row.title}};
    if (row.rank) out["rank"] = row.rank->value;
    if (!row.subject.empty()) out["subject"] = row.subject;
    return out;
  };
  const auto list = [&one](const std::vector<Finding>& rows) {
    Json all = Json::array();
    for (const Finding& row : rows) all.push_back(one(row));
    return all;
  };
  Json risen = Json::array();
  for (const RisenFinding& row : findings.risen) risen.emplace_back(one(row.now))["severity_a"] = name_of(row.before);
  return {{"came", list(findings.came)},
          {"went", list(findings.went)},
          {"risen", std::move(risen)},
          {"in_both", findings.in_both}};
}

Json memory_json(const std::vector<MemoryChange>& memory) {
  Json list = Json::array();
  const auto value = [](std::optional<std::int64_t> bytes) { return bytes ? Json(*bytes) : Json(nullptr); };
  for (const MemoryChange& row : memory)
    list.push_back({{"who", row.who},
                    {"allocated_a_bytes", value(row.allocated_a)},
                    {"allocated_b_bytes", value(row.allocated_b)},
                    {"reserved_a_bytes", value(row.reserved_a)},
                    {"reserved_b_bytes", value(row.reserved_b)}});
  return list;
}

Json differences_json(const Likeness& likeness) {
  Json list = Json::array();
  const auto value = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  for (const Difference& row : likeness.differences)
    list.push_back({{"what", row.what}, {"a", value(row.a)}, {"b", value(row.b)}, {"must_agree", row.must_agree}});
  return list;
}

Json scaling_json(const Section<RankScaling>& scaling) {
  if (!scaling) return {{"unavailable", scaling.error().why}};
  return {{"computation_same_problem", rounded(scaling->same_problem, ratio_digits)},
          {"computation_grown_problem", rounded(scaling->grown_problem, ratio_digits)},
          {"parallel_a", rounded(scaling->parallel_a, ratio_digits)},
          {"parallel_b", rounded(scaling->parallel_b, ratio_digits)},
          {"global_same_problem", rounded(scaling->same_problem * scaling->parallel_b, ratio_digits)},
          {"global_grown_problem", rounded(scaling->grown_problem * scaling->parallel_b, ratio_digits)}};
}

Json gate_json(const Gate& gate) {
  Json out;
  out["verdict"] = name_of(gate.verdict);
  out["max_regression"] = rounded(gate.limit, ratio_digits);
  out["judged_by"] = name_of(gate.judged_by);
  if (!gate.why.empty()) out["why"] = gate.why;
  return out;
}

}  // namespace

std::string render_json(const ComparisonView& view) {
  const Comparison& comparison = view.comparison;
  Json out;
  out["schema"] = "rankscope.compare/1";
  if (view.gate) out["gate"] = gate_json(*view.gate);
  out["summary"] = verdict_line(view);
  out["a"] = run_json(comparison.a);
  out["b"] = run_json(comparison.b);
  if (comparison.asked_for.steps) out["asked_for"]["steps"] = steps_asked_for_json(*comparison.asked_for.steps);
  if (!comparison.asked_for.ranks.empty()) out["asked_for"]["ranks"] = ranks_json(comparison.asked_for.ranks);
  out["losses_accepted"] = comparison.losses == Losses::accepted;
  out["step_time"] = steps_json(comparison.steps);
  out["parts"] = parts_json(comparison.split);
  out["keys"] = keys_json(comparison.keys);
  out["findings"] = findings_json(comparison.findings);
  out["memory"] = memory_json(comparison.memory);
  out["differences"] = differences_json(comparison.likeness);
  out["not_stated"] = comparison.likeness.unknown;
  if (comparison.scaling) out["scaling"] = scaling_json(*comparison.scaling);
  out["caveats"] = caveats_of(comparison);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rankscope::analyzer
