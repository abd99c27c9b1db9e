#include "compare/tables.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "compare/words.h"
#include "kernels/kernel_names.h"
#include "math/apportion.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_compared = 34;
constexpr std::size_t most_ranks = 16;

std::string percent_of(std::int64_t change, std::int64_t of) {
  return of > 0 ? signed_percent(static_cast<double>(change) / static_cast<double>(of)) : std::string{empty_cell};
}

Tone tone_of_change(std::int64_t change, std::int64_t step) {
  if (std::abs(change) * 100 < step || change == 0) return Tone::plain;
  return change > 0 ? Tone::bad : Tone::good;
}

/// Whole microseconds that add up to those of the window (C2).
std::vector<std::int64_t> microseconds(const SplitMean& mean) {
  std::vector<std::int64_t> parts = apportioned(mean.parts_ns, (mean.window_ns + 500) / 1000);
  parts.push_back((mean.window_ns + 500) / 1000);
  return parts;
}

std::vector<Cell> change_row(std::string name, std::int64_t a, std::int64_t b, std::int64_t step) {
  const Tone tone = tone_of_change(b - a, step);
  return {{std::move(name)},        {decimal(a, 3)},        {decimal(b, 3)},
          {signed_ms(b - a), tone}, {percent_of(b - a, a)}, {percent_of(b - a, step)}};
}

Table change_table(const ComparisonView& view, std::string_view what) {
  return {{{std::string{what}, Align::left},
           {title_of(view.comparison.a)},
           {title_of(view.comparison.b)},
           {"change"},
           {"in %"},
           {"of the step"}},
          {}};
}

NotedTable parts_table(const ComparisonView& view) {
  const SplitChange& all = view.comparison.split->all;
  NotedTable noted{"Where the time went",
                   "ms per step and rank; the last row is the sum of the rows above it",
                   change_table(view, "part"),
                   {}};
  const auto a = microseconds(all.a);
  const auto b = microseconds(all.b);
  for (std::size_t i = 0; i < split_part_count; ++i)
    if (a[i] != 0 || b[i] != 0)
      noted.table.rows.push_back(change_row(std::string{words_of(static_cast<SplitPart>(i))}, a[i], b[i], a.back()));
  noted.table.rows.push_back(change_row("whole step", a.back(), b.back(), a.back()));
  return noted;
}

NotedTable ranks_table(const ComparisonView& view) {
  const SplitComparison& split = *view.comparison.split;
  NotedTable noted{"Ranks", "ms per step", change_table(view, "who"), {}, {split.pairing}};
  noted.table.columns.push_back({"mostly", Align::left, 34});
  const std::size_t limit = std::max(most_ranks, view.top);
  std::vector<const SplitChange*> rows;
  for (const SplitChange& row : split.ranks) rows.push_back(&row);
  if (rows.size() > limit) {
    std::ranges::stable_sort(rows, {}, [](const SplitChange* row) { return -std::abs(row->window_change_ns()); });
    noted.notes.emplace_back("Only the rows that changed most are shown.");
    noted.left_out = left_out(rows.size(), limit);
    rows.resize(limit);
  }
  for (const SplitChange* row : rows) {
    const std::int64_t a = (row->a.window_ns + 500) / 1000;
    const std::int64_t b = (row->b.window_ns + 500) / 1000;
    noted.table.rows.push_back(change_row(printable(row->who), a, b, a));
    noted.table.rows.back().push_back({largest_change(*row)});
  }
  return noted;
}

std::string key_name(const CompareKey& key) {
  const bool kernel = key.kind == KeyKind::kernel || key.kind == KeyKind::comm_kernel;
  const bool of_group = key.kind == KeyKind::wait || key.kind == KeyKind::transfer;
  if (of_group) return printable(key.detail + " in " + key.name);
  return printable(kernel ? short_kernel_name(key.name) : key.name);
}

std::string each_text(const KeyChange& row) {
  if (row.keys > 1) return format("sum over {} {}", row.keys, row.key.kind == KeyKind::op ? "inputs" : "grids");
  if (row.count_a == 0) return duration_text(row.median_b_ns);
  if (row.count_b == 0) return duration_text(row.median_a_ns);
  return format("{} → {}", duration_text(row.median_a_ns), duration_text(row.median_b_ns));
}

/// Of runs with steps.
Table key_table(const ComparisonView& view, const std::vector<KeyChange>& keys) {
  Table table{{{"name", Align::left, widest_compared},
               {"kind", Align::left},
               {title_of(view.comparison.a)},
               {title_of(view.comparison.b)},
               {"in %"},
               {"of the step"},
               {"each (median)", Align::left}},
              {}};
  const std::int64_t step = view.comparison.a.median_ns.value_or(0);
  const Means whole;  // means already
  for (const KeyChange& row : std::span{keys}.first(std::min(view.top, keys.size()))) {
    table.rows.push_back({{key_name(row.key)},
                          {std::string{words_of(row.key.kind)}},
                          {whole.ms(row.a_ns.value_or(0))},
                          {whole.ms(row.b_ns.value_or(0))},
                          {percent_of(row.change_ns(), row.a_ns.value_or(0)), tone_of_change(row.change_ns(), step)},
                          {percent_of(row.change_ns(), step)},
                          {each_text(row)}});
  }
  return table;
}

/// Grids, blocks and inputs where they tell rows of one name apart.
void note_details(const ComparisonView& view, const std::vector<KeyChange>& keys, NotedTable& noted) {
  const auto shown = std::span{keys}.first(std::min(view.top, keys.size()));
  std::vector<std::string> names;
  std::map<std::string_view, std::size_t> rows_of_name;
  names.reserve(shown.size());
  for (const KeyChange& row : shown) ++rows_of_name[names.emplace_back(key_name(row.key))];
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const KeyChange& row = shown[i];
    const bool of_group = row.key.kind == KeyKind::wait || row.key.kind == KeyKind::transfer;
    if (!of_group && !row.key.detail.empty() && rows_of_name[names[i]] > 1)
      noted.notes.push_back(format("{} ({}): {}", names[i], Means{}.ms(row.longest_ns()), printable(row.key.detail)));
  }
  noted.left_out = left_out(keys.size(), view.top);
}

NotedTable changed_table(const ComparisonView& view) {
  const KeyComparison& keys = view.comparison.keys;
  NotedTable noted{"What changed", "ms per step and rank", key_table(view, keys.changed), {}};
  note_details(view, keys.changed, noted);
  if (keys.not_tested.empty()) {
    noted.notes.push_back(format(
        "On average, at most 5 % of the entries in this list are due to chance (false discovery rate 5 %). All {} "
        "entries that take at least 1 % of a step were tested (Mann-Whitney over the steps, Benjamini-Hochberg over "
        "the list).",
        keys.tested));
  } else {
    noted.notes.push_back(
        format("The changes were not tested: {}. They may be due to chance.", printable(keys.not_tested)));
  }
  return noted;
}

/// Of small changes that add up to a large one.
NotedTable below_table(const ComparisonView& view) {
  const std::vector<KeyChange>& keys = view.comparison.keys.below;
  NotedTable noted{"Largest changes, none of which is certain", "ms per step and rank", key_table(view, keys), {}};
  noted.left_out = left_out(keys.size(), view.top);
  noted.notes.emplace_back(
      "A part of the step, such as compute, changed by at least 1 % of the step, but no single entry is known to have "
      "changed by as much. These entries changed most; any of the changes may be due to chance.");
  return noted;
}

NotedTable one_sided_table(const ComparisonView& view, std::string title, const std::vector<KeyChange>& keys) {
  NotedTable noted{std::move(title), "ms per step and rank", key_table(view, keys), {}};
  note_details(view, keys, noted);
  return noted;
}

/// Without steps: calls and the median of a single one.
NotedTable single_table(const ComparisonView& view, std::string title, const std::vector<KeyChange>& keys) {
  const std::string a = title_of(view.comparison.a);
  const std::string b = title_of(view.comparison.b);
  NotedTable noted{std::move(title),
                   "medians of single calls; without steps, whole runs cannot be compared",
                   {{{"name", Align::left, widest_compared},
                     {"kind", Align::left},
                     {"calls " + a},
                     {"calls " + b},
                     {a},
                     {b},
                     {"in %"}},
                    {}},
                   {}};
  const auto median = [](std::int64_t ns, std::int64_t count) {
    return count > 0 ? duration_text(ns) : std::string{empty_cell};
  };
  for (const KeyChange& row : std::span{keys}.first(std::min(view.top, keys.size()))) {
    const bool both = row.count_a > 0 && row.count_b > 0;
    noted.table.rows.push_back(
        {{key_name(row.key)},
         {std::string{words_of(row.key.kind)}},
         {format("{}", row.count_a)},
         {format("{}", row.count_b)},
         {median(row.median_a_ns, row.count_a)},
         {median(row.median_b_ns, row.count_b)},
         {both ? percent_of(row.median_b_ns - row.median_a_ns, row.median_a_ns) : std::string{empty_cell}}});
  }
  const KeyComparison& all = view.comparison.keys;
  if (all.calls_a != all.calls_b)
    noted.notes.push_back(format("Calls are counted over {} in {} and over {} in {}.", all.calls_a, a, all.calls_b, b));
  noted.left_out = left_out(keys.size(), view.top);
  return noted;
}

}  // namespace

std::string largest_change(const SplitChange& row) {
  SplitPart largest = SplitPart::compute;
  for (std::size_t i = 0; i < split_part_count; ++i)
    if (const auto part = static_cast<SplitPart>(i); std::abs(row.change_ns(part)) > std::abs(row.change_ns(largest)))
      largest = part;
  if (row.change_ns(largest) == 0) return std::string{empty_cell};
  return format("{} {}", words_of(largest), signed_ms((row.change_ns(largest)) / 1000));
}

std::vector<NotedTable> split_tables(const ComparisonView& view) {
  if (!view.comparison.split) return {};
  const SplitComparison& split = *view.comparison.split;
  std::vector<NotedTable> tables{parts_table(view)};
  const bool says_more = split.ranks.size() > 1 || (split.ranks.size() == 1 && !split.ranks.front().is_of_all);
  if (says_more) {
    tables.push_back(ranks_table(view));
  } else {
    tables.back().notes.push_back(split.pairing);
  }
  return tables;
}

std::vector<NotedTable> key_tables(const ComparisonView& view) {
  const KeyComparison& keys = view.comparison.keys;
  const auto one_sided = keys.least_change_ns > 0 ? one_sided_table : single_table;
  std::vector<NotedTable> tables;
  if (!keys.changed.empty()) tables.push_back(changed_table(view));
  if (!keys.below.empty()) tables.push_back(below_table(view));
  if (!keys.medians.empty()) tables.push_back(single_table(view, "Medians", keys.medians));
  if (!keys.appeared.empty()) tables.push_back(one_sided(view, "New in " + title_of(view.comparison.b), keys.appeared));
  if (!keys.gone.empty()) tables.push_back(one_sided(view, "Only in " + title_of(view.comparison.a), keys.gone));
  return tables;
}

NotedTable risen_table(const ComparisonView& view) {
  NotedTable noted{"Findings that are worse in " + title_of(view.comparison.b), "",
                   Table{{{"in " + title_of(view.comparison.a), Align::left},
                          {"in " + title_of(view.comparison.b), Align::left},
                          {"finding", Align::left, 70}},
                         {}}};
  for (const RisenFinding& row : view.comparison.findings.risen)
    noted.table.rows.push_back(
        {{std::string{name_of(row.before)}}, {std::string{name_of(row.now.severity)}}, {printable(row.now.title)}});
  return noted;
}

std::vector<NotedTable> finding_tables(const ComparisonView& view) {
  const ComparedFindings& findings = view.comparison.findings;
  NotedTable noted{"Findings that appeared or disappeared", "",
                   Table{{{"only in", Align::left}, {"severity", Align::left}, {"finding", Align::left, 70}}, {}}};
  const auto add = [&noted](const ComparedRun& run, const std::vector<Finding>& rows) {
    for (const Finding& finding : rows)
      noted.table.rows.push_back(
          {{title_of(run)}, {std::string{name_of(finding.severity)}}, {printable(finding.title)}});
  };
  add(view.comparison.b, findings.came);
  add(view.comparison.a, findings.went);
  std::vector<NotedTable> tables;
  if (!noted.table.rows.empty()) tables.push_back(std::move(noted));
  if (!findings.risen.empty()) tables.push_back(risen_table(view));
  if (!tables.empty() && findings.in_both > 0)
    tables.back().notes.push_back(format("In both: {}.", counted(findings.in_both, "finding")));
  return tables;
}

std::vector<NotedTable> memory_tables(const ComparisonView& view) {
  const std::vector<MemoryChange>& changes = view.comparison.memory;
  if (changes.empty()) return {};
  const std::string a = title_of(view.comparison.a);
  const std::string b = title_of(view.comparison.b);
  NotedTable noted{
      "Memory", "peaks",
      Table{{{"who", Align::left}, {"allocated " + a}, {b}, {"in %"}, {"reserved " + a}, {b}, {"in %"}}, {}},
      left_out(changes.size(), std::max(most_ranks, view.top))};
  const auto bytes = [](std::optional<std::int64_t> value) {
    return value ? bytes_text(*value) : std::string{empty_cell};
  };
  const auto change = [](std::optional<std::int64_t> before, std::optional<std::int64_t> after) {
    return before && after ? percent_of(*after - *before, *before) : std::string{empty_cell};
  };
  for (const MemoryChange& row : std::span{changes}.first(changes.size() - noted.left_out.rows))
    noted.table.rows.push_back({{row.who},
                                {bytes(row.allocated_a)},
                                {bytes(row.allocated_b)},
                                {change(row.allocated_a, row.allocated_b)},
                                {bytes(row.reserved_a)},
                                {bytes(row.reserved_b)},
                                {change(row.reserved_a, row.reserved_b)}});
  return {std::move(noted)};
}

namespace {

/// Long texts that begin alike, as commands do, from the word on in which they differ: "… --bug tok".
std::pair<std::string, std::string> where_they_differ(const std::string& a, const std::string& b) {
  constexpr std::size_t long_text = 36;
  if (std::max(a.size(), b.size()) <= long_text) return {a, b};
  const auto same = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  // The option before a value belongs to it.
  std::size_t from = same == 0 ? std::string::npos : a.rfind(' ', same - 1);
  if (from != std::string::npos && from > 0) from = a.rfind(' ', from - 1);
  if (from == std::string::npos) return {a, b};
  const auto rest = [from](const std::string& text) { return "…" + text.substr(from); };
  return {rest(a), rest(b)};
}

}  // namespace

std::vector<NotedTable> difference_tables(const ComparisonView& view) {
  if (view.comparison.likeness.differences.empty()) return {};
  NotedTable noted{"What differs",
                   "according to the recordings",
                   {{{"what", Align::left},
                     {title_of(view.comparison.a), Align::left, 36},
                     {title_of(view.comparison.b), Align::left, 36}},
                    {}},
                   {}};
  for (const Difference& row : view.comparison.likeness.differences) {
    const auto [a, b] = where_they_differ(row.a, row.b);
    noted.table.rows.push_back({{printable(row.what), row.must_agree ? Tone::warning : Tone::plain},
                                {a.empty() ? std::string{empty_cell} : printable(a)},
                                {b.empty() ? std::string{empty_cell} : printable(b)}});
  }
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
