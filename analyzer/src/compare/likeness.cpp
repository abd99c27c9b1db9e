#include "compare/likeness.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

bool is_batch(std::string_view key) { return key.find("batch") != std::string_view::npos || key == "accumulate"; }
bool is_dtype(std::string_view key) { return key.find("dtype") != std::string_view::npos || key == "precision"; }

/// Differs between two runs of one job, too; how many steps were made is shown elsewhere.
bool is_of_one_run(std::string_view key) {
  static constexpr std::array keys{"command", "exit_status", "stopped_by",
                                   "steps",   "nsys.file",   "nsys.export_with_payloads"};
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

}  // namespace

Likeness compare_facts(const RunDigest& a, const RunDigest& b) {
  Likeness likeness;
  const auto note = [&](std::string_view what, const std::string& of_a, const std::string& of_b, Says says) {
    if (of_a != of_b) likeness.differences.push_back({std::string{what}, of_a, of_b, says == Says::another_job});
  };
  note("world size", format("{}", a.report.world_size), format("{}", b.report.world_size), Says::another_job);
  note("ranks recorded", format("{}", a.report.ranks.size()), format("{}", b.report.ranks.size()), Says::another_job);
  const auto facts_a = comparable_facts_of(a);
  const auto facts_b = comparable_facts_of(b);
  std::map<std::string, std::string> either = facts_a;
  either.insert(facts_b.begin(), facts_b.end());
  for (const auto& [key, ignored] : either) {
    const bool both = facts_a.contains(key) && facts_b.contains(key);
    const auto value = [&key = key](const auto& facts) { return facts.contains(key) ? facts.at(key) : std::string{}; };
    note(key, value(facts_a), value(facts_b),
         both && (is_batch(key) || is_dtype(key)) ? Says::another_job : Says::other_surroundings);
  }
  note("recorded by", a.report.source, b.report.source, Says::other_surroundings);
  note("device", devices_of(a), devices_of(b), Says::other_surroundings);
  note("host", hosts_of(a), hosts_of(b), Says::other_surroundings);
  std::ranges::stable_partition(likeness.differences, [](const Difference& row) { return row.must_agree; });
  if (!both_state(facts_a, facts_b, is_batch)) likeness.unknown.emplace_back("batch");
  if (!both_state(facts_a, facts_b, is_dtype)) likeness.unknown.emplace_back("dtype");
  return likeness;
}

}  // namespace rankscope::analyzer
