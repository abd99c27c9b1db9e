#include "rankscope/analyzer/compare/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "compare/bootstrap.h"
#include "compare/key_changes.h"
#include "compare/losses.h"
#include "compare/step_changes.h"
#include "compare/words.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

// Are two runs of the same job? (metrics.md 17.3)

bool is_batch(std::string_view key) { return key.find("batch") != std::string_view::npos || key == "accumulate"; }
/// What a step does, and what the trainer was told to take for it.
bool is_work(std::string_view key) { return key == "model" || key == "pace_ms"; }
bool is_dtype(std::string_view key) { return key.find("dtype") != std::string_view::npos || key == "precision"; }

/// Differs between two runs of one job, too, is a result, or is the place of one rank; how many steps were made is
/// shown elsewhere.
bool is_of_one_run(std::string_view key) {
  static constexpr std::array keys{
      "exit_status", "stopped_by", "steps",   "nsys.file", "nsys.export_with_payloads", "stage", "dp_rank",
      "pp_rank",     "tp_rank",    "cp_rank", "ep_rank",   "device_cpu_seconds"};
  return std::ranges::find(keys, key) != keys.end() || key.starts_with("nsys.message.") ||
         key.starts_with("nsys.tables_");
}

std::map<std::string, std::string> comparable_facts_of(const RunDigest& run) {
  std::map<std::string, std::string> facts;
  for (const auto& [key, value] : run.report.facts)
    if (!is_of_one_run(key)) facts[key] = value;
  return facts;
}

/// The different values of all ranks: "NVIDIA A100", "n0, n1".
template <class Rows, class Text>
std::string values_of(const Rows& rows, Text text) {
  std::set<std::string> values;
  for (const auto& row : rows)
    if (!text(row).empty()) values.insert(text(row));
  std::string all;
  for (const std::string& value : values) all += (all.empty() ? "" : ", ") + value;
  return all;
}

std::string devices_of(const RunDigest& run) {
  return run.report.rank_rows ? values_of(*run.report.rank_rows, [](const RankRow& row) { return row.device; }) : "";
}
std::string hosts_of(const RunDigest& run) {
  return values_of(run.report.rank_facts, [](const RankFacts& row) { return row.host; });
}

/// True if both runs state one of these facts, whatever its value.
template <class Is>
bool both_state(const std::map<std::string, std::string>& a, const std::map<std::string, std::string>& b, Is is) {
  return std::ranges::any_of(a, [&](const auto& fact) { return is(fact.first) && b.contains(fact.first); });
}

/// What a difference means.
enum class Says : std::uint8_t { another_job, other_surroundings };

/// What they state about themselves, apart from what differs between any two runs (exit status).
Likeness compare_facts(const RunDigest& a, const RunDigest& b) {
  Likeness likeness;
  const auto note = [&](std::string_view what, const std::string& of_a, const std::string& of_b, Says says) {
    if (of_a != of_b) likeness.differences.push_back({std::string{what}, of_a, of_b, says == Says::another_job});
  };
  note("world size", format("{}", a.report.world_size), format("{}", b.report.world_size), Says::another_job);
  // Ranks of one world that were not recorded are losses (17.4).
  note("ranks recorded", format("{}", a.report.ranks.size()), format("{}", b.report.ranks.size()),
       Says::other_surroundings);
  const auto facts_a = comparable_facts_of(a);
  const auto facts_b = comparable_facts_of(b);
  std::map<std::string, std::string> either = facts_a;
  either.insert(facts_b.begin(), facts_b.end());
  const bool trained = facts_a.contains("parallel") && facts_b.contains("parallel");  // both by rankscope train
  for (const auto& [key, ignored] : either) {
    const bool both = facts_a.contains(key) && facts_b.contains(key);
    const auto value = [&key = key](const auto& facts) { return facts.contains(key) ? facts.at(key) : std::string{}; };
    note(key, value(facts_a), value(facts_b),
         (trained && is_work(key)) || (both && (is_batch(key) || is_dtype(key))) ? Says::another_job
                                                                                 : Says::other_surroundings);
  }
  note("recorded by", a.report.source, b.report.source, Says::other_surroundings);
  note("device", devices_of(a), devices_of(b), Says::other_surroundings);
  note("host", hosts_of(a), hosts_of(b), Says::other_surroundings);
  std::ranges::stable_partition(likeness.differences, [](const Difference& row) { return row.must_agree; });
  if (!both_state(facts_a, facts_b, is_batch)) likeness.unknown.emplace_back("batch");
  if (!both_state(facts_a, facts_b, is_dtype)) likeness.unknown.emplace_back("dtype");
  return likeness;
}

// Findings that came and went, and peaks of memory.

bool is_same(const Finding& a, const Finding& b) {
  return std::tie(a.id, a.rank, a.subject) == std::tie(b.id, b.rank, b.subject);
}

std::vector<Finding>::const_iterator find(const std::vector<Finding>& findings, const Finding& wanted) {
  return std::ranges::find_if(findings, [&wanted](const Finding& finding) { return is_same(finding, wanted); });
}

std::vector<Finding> without(const std::vector<Finding>& findings, const std::vector<Finding>& others) {
  std::vector<Finding> left;
  std::ranges::copy_if(findings, std::back_inserter(left),
                       [&others](const Finding& finding) { return find(others, finding) == others.end(); });
  return left;
}

/// Both lists begin with the worst, so that of several findings about one subject that one is compared.
std::vector<RisenFinding> risen(const std::vector<Finding>& before, const std::vector<Finding>& now) {
  std::vector<RisenFinding> worse;
  for (auto finding = now.begin(); finding != now.end(); ++finding) {
    const auto old = find(before, *finding);
    if (old != before.end() && find(now, *finding) == finding && finding->severity > old->severity)
      worse.push_back({old->severity, *finding});
  }
  return worse;
}

ComparedFindings compare_findings(const RunDigest& a, const RunDigest& b) {
  ComparedFindings result;
  for (const RunDigest* run : {&a, &b})
    if (!run->report.findings) {
      result.why_unknown = format("{}: {}", run->name.label, run->report.findings.error().why);
      return result;
    }
  result.came = without(*b.report.findings, *a.report.findings);
  result.went = without(*a.report.findings, *b.report.findings);
  result.risen = risen(*a.report.findings, *b.report.findings);
  result.in_both = static_cast<std::int64_t>(b.report.findings->size() - result.came.size());
  return result;
}

/// Of the memories that both runs recorded, by rank and device.
std::vector<MemoryChange> compare_memory(const RunDigest& a, const RunDigest& b) {
  std::vector<MemoryChange> rows;
  if (!a.report.memory || !b.report.memory) return rows;
  for (const DeviceMemory& one : a.report.memory->devices) {
    const auto key = [](const DeviceMemory& memory) { return std::tie(memory.rank, memory.kind, memory.device); };
    const auto other = std::ranges::find_if(b.report.memory->devices,
                                            [&](const DeviceMemory& candidate) { return key(candidate) == key(one); });
    // Growth since the begin of a recording is no size.
    if (other == b.report.memory->devices.end() || one.changes_only || other->changes_only) continue;
    const std::string what =
        one.kind == MemoryKind::host ? std::string{"host allocator"} : format("device {}", one.device);
    rows.push_back({format("rank {}, {}", one.rank.value, what), one.allocated.bytes, other->allocated.bytes,
                    one.reserved.bytes, other->reserved.bytes});
  }
  return rows;
}

std::string why_no_steps(const RunDigest& run) {
  if (!run.report.steps) return run.report.steps.error().why;
  return run.step_walls_ns.empty() ? "no step is complete" : "";
}

ComparedRun facts_of(const RunDigest& run, const RunDigest& other) {
  const Report& report = run.report;
  ComparedRun facts{.name = run.name,
                    .source = report.source,
                    .ranks = static_cast<std::int64_t>(report.ranks.size()),
                    .world_size = report.world_size,
                    .counted_steps = static_cast<std::int64_t>(run.step_walls_ns.size()),
                    .median_ns = std::nullopt,
                    .why_no_steps = why_no_steps(run),
                    .losses = {}};
  if (!run.step_walls_ns.empty()) {
    facts.median_ns = measured(run.step_walls_ns, StepMeasure::median);
    facts.mean_ns = measured(run.step_walls_ns, StepMeasure::mean);
  }
  for (const QualityRow& row : report.data_quality) {
    const CounterInfo& info = info_of(row.counter);
    if (info.severity != Severity::info) facts.losses.push_back(format("{}: {}", info.name, row.value));
  }
  facts.lost = run.lost;
  std::ranges::copy(lost_against(run, other), std::back_inserter(facts.lost));
  return facts;
}

struct Computation {
  double useful_ns = 0;  // of all ranks, per step
  double parallel = 0;   // 8.1
};

Computation computation_of(const RunDigest& run) {
  std::int64_t useful = 0;
  std::int64_t longest = 0;
  for (const RankRow& row : *run.report.rank_rows) {
    useful += row.total.compute_ns;
    longest = std::max(longest, row.total.window_ns);
  }
  const auto steps = static_cast<double>(run.step_walls_ns.size());
  const auto ranks = static_cast<double>(run.report.rank_rows->size());
  return {static_cast<double>(useful) / steps,
          longest > 0 ? static_cast<double>(useful) / ranks / static_cast<double>(longest) : 0};
}

/// metrics.md 17.2, runs of different size.
Section<RankScaling> scaling_of(const RunDigest& a, const RunDigest& b) {
  for (const RunDigest* run : {&a, &b}) {
    const std::string& name = run->name.label;
    if (run->step_walls_ns.empty()) return unavailable(format("{} has no counted steps", name));
    if (!run->report.rank_rows) return unavailable(format("{}: {}", name, run->report.rank_rows.error().why));
    if (static_cast<std::int64_t>(run->ranks.size()) < run->report.world_size)
      return unavailable(format("not all ranks of {} are compared", name));
    if (std::ranges::any_of(*run->report.rank_rows, [](const RankRow& row) { return row.per_step.empty(); }))
      return unavailable(format("not all ranks of {} have steps", name));
  }
  const Computation of_a = computation_of(a);
  const Computation of_b = computation_of(b);
  if (of_a.useful_ns <= 0 || of_b.useful_ns <= 0) return unavailable("one of the runs has no compute time");
  const double same = of_a.useful_ns / of_b.useful_ns;
  const double ratio = static_cast<double>(b.ranks.size()) / static_cast<double>(a.ranks.size());
  return RankScaling{same, same * ratio, of_a.parallel, of_b.parallel};
}

/// By 1 % of a step: then something must have changed that much, in all.
bool any_part_changed(const Comparison& comparison) {
  if (!comparison.split) return false;
  for (std::size_t i = 0; i < split_part_count; ++i)
    if (std::abs(comparison.split->all.change_ns(static_cast<SplitPart>(i))) >= comparison.keys.least_change_ns)
      return true;
  return false;
}

/// The figures stay; they are not called slower or faster.
void refuse_another_job(Comparison& comparison) {
  const std::string other = other_job(comparison.likeness);
  if (other.empty()) return;
  comparison.steps.verdict = StepVerdict::cannot_tell;
  comparison.steps.severity = FindingSeverity::info;
  comparison.steps.judged_by = StepMeasure::median;
  comparison.steps.why = format("the runs are not of the same job: {} ({} against {})", other, comparison.a.name.label,
                                comparison.b.name.label);
}

}  // namespace

Comparison compare(const RunDigest& a, const RunDigest& b, Losses losses, Likes likes) {
  Comparison result;
  result.a = facts_of(a, b);
  result.b = facts_of(b, a);
  result.asked_for = {a.steps_asked_for, a.report.asked_for.ranks};
  result.losses = losses;
  result.likes = likes;
  result.steps = compare_steps({a, result.a}, {b, result.b}, losses);
  result.split = compare_splits(a, b);
  result.keys = compare_keys(a, b);
  if (!any_part_changed(result)) result.keys.below.clear();
  result.findings = compare_findings(a, b);
  result.memory = compare_memory(a, b);
  result.likeness = compare_facts(a, b);
  if (likes == Likes::must_agree) refuse_another_job(result);
  if (a.ranks.size() != b.ranks.size()) result.scaling = scaling_of(a, b);
  return result;
}

}  // namespace rankscope::analyzer
