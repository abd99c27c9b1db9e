#include "kernels/parts.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "kernels/kernel_names.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/number_alike.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_kernel = 36;

Means means_of(const KernelsSection& section) {
  return {static_cast<std::int64_t>(section.ranks.size()), section.rank_steps};
}

Cell class_cell(const KernelRow& row) {
  switch (row.kind) {
    case ActivityClass::compute:
      return {row.tensor_cores == TensorCores::yes ? "tensor" : "compute", Tone::compute};
    case ActivityClass::comm:
      return {"comm", Tone::comm};
    case ActivityClass::memory:
      return {"copy", Tone::memory};
  }
  return {};
}

/// Names of rows so that no two read the same, in a narrow column either.
struct ShownNames {
  std::vector<std::string> whole;
  std::vector<std::string> narrow;
  bool numbered = false;  ///< some kernels have one short name
};

ShownNames shown_names(std::span<const KernelRow> rows) {
  ShownNames names;
  for (const KernelRow& row : rows) names.whole.push_back(printable(row.short_name));
  names.numbered = number_alike(names.whole, std::vector<std::string>{names.whole});
  std::map<std::string, std::size_t> fronts;
  for (const std::string& name : names.whole) ++fronts[shortened(name, widest_kernel)];
  for (const std::string& name : names.whole) {
    const std::string front = shortened(name, widest_kernel);
    names.narrow.push_back(fronts[front] > 1 ? shortened_inside(name, widest_kernel) : front);
  }
  names.numbered = number_alike(names.narrow, names.whole) || names.numbered;
  for (std::string& name : names.narrow) name = shortened_inside(name, widest_kernel);
  return names;
}

std::vector<Cell> cells_of(const KernelRow& row, Cell name, const KernelsSection& section) {
  const Means means = means_of(section);
  const KernelTimes& times = row.times;
  return {std::move(name),
          class_cell(row),
          {means.count(times.count)},
          {means.ms(times.sum_ns)},
          {means.ms(times.exclusive_ns)},
          {share_text(times.exclusive_ns, section.window_ns)},
          {times.count > 0 ? duration_text(times.median_ns) : std::string{empty_cell}},
          {times.count > 0 ? duration_text(times.max_ns) : std::string{empty_cell}}};
}

/// Of matrix products and convolutions, by their names: nothing else could use tensor cores.
std::string tensor_note(const KernelsSection& section) {
  std::array<std::int64_t, tensor_cores_count> sums{};
  for (const KernelRow& row : section.names)
    if (row.kind == ActivityClass::compute && multiplies_matrices(row.name))
      sums[static_cast<std::size_t>(row.tensor_cores)] += row.times.exclusive_ns;
  const auto ns = [&](TensorCores use) { return sums[static_cast<std::size_t>(use)]; };
  if (ns(TensorCores::yes) + ns(TensorCores::no) == 0) return {};
  const auto shares = apportioned(std::array{ns(TensorCores::yes), ns(TensorCores::no), ns(TensorCores::unknown)}, 100);
  return format(
      "Tensor cores, judged by kernel names: {} % of the time of matrix products and convolutions is spent in kernels "
      "that use tensor cores, {} % in kernels that do not, and {} % in kernels for which this is not known.",
      shares[0], shares[1], shares[2]);
}

NotedTable kernel_table(const KernelsSection& section, std::size_t limit) {
  const Means means = means_of(section);
  NotedTable noted{"Kernels", "calls and ms: " + means.words(), {}, left_out(section.names.size(), limit)};
  Table& table = noted.table;
  table = Table{{{"kernel or copy", Align::left, widest_kernel},
                 {"class", Align::left},
                 {"calls"},
                 {"ms"},
                 {"alone ms"},
                 {"of time"},
                 {"median"},
                 {"longest"}},
                {}};
  const auto shown = std::span{section.names}.first(section.names.size() - noted.left_out.rows);
  ShownNames names = shown_names(shown);
  for (std::size_t i = 0; i < shown.size(); ++i)
    table.rows.push_back(
        cells_of(shown[i], {std::move(names.whole[i]), Tone::plain, std::move(names.narrow[i])}, section));
  if (const KernelRest rest = rest_of(std::span{section.names}, shown.size()); rest.keys > 0) {
    table.rows.push_back({{format("rest ({})", counted(rest.keys, "name"))},
                          {""},
                          {means.count(rest.count)},
                          {means.ms(rest.sum_ns)},
                          {means.ms(rest.exclusive_ns)},
                          {share_text(rest.exclusive_ns, section.window_ns)},
                          {""},
                          {""}});
  }
  noted.notes.push_back(format(
      "If kernels or copies run at the same time, the column \"ms\" counts this time for each of them. The column "
      "\"alone ms\" gives each moment to only one of them: to compute first, then to comm, then to copies; among "
      "several "
      "of one class, to the one that started first. In total: {}{}.",
      counted(section.names.size(), "name"),
      section.keys.size() == section.names.size()
          ? ""
          : format(", or {} if different grids and blocks are counted separately", section.keys.size())));
  if (names.numbered)
    noted.notes.emplace_back(
        "A number in parentheses, such as (1), marks kernels whose names differ only in a part that is left out here; "
        "the JSON report has the full names.");
  if (std::string note = tensor_note(section); !note.empty()) noted.notes.push_back(std::move(note));
  return noted;
}

Table together_table(const KernelsSection& section, std::size_t limit) {
  Table table{{{"rank"},
               {"compute"},
               {"comm"},
               {"copies"},
               {"compute+comm"},
               {"compute+copies"},
               {"comm+copies"},
               {"all three"},
               {"nothing"}},
              {}};
  constexpr std::array<std::size_t, together_count> order{1, 2, 4, 3, 5, 6, 7, 0};
  for (const RankKernels& rank : section.ranks) {
    if (table.rows.size() == limit) break;
    const std::int64_t parts = std::max<std::int64_t>(1, rank.steps);
    std::array<std::int64_t, together_count> ns{};
    std::ranges::transform(order, ns.begin(), [&](std::size_t bits) { return rank.together[bits]; });
    std::vector<Cell> cells{{format("{}", rank.rank.value)}};
    for (const std::int64_t part : apportioned(ns, (rank.window_ns + parts * 500) / (parts * 1'000)))
      cells.push_back({decimal(part, 3)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

std::vector<NotedTable> kernel_tables(const Report& report, std::size_t most) {
  if (!report.kernels) return {};
  const KernelsSection& section = *report.kernels;
  const auto limit = std::max<std::size_t>(16, most);
  const std::string_view what =
      section.rank_steps > 0 ? "ms per step; each row adds up to the length of the step" : "ms of the whole recording";
  return {
      kernel_table(section, most),
      {"What ran together", std::string{what}, together_table(section, limit), left_out(section.ranks.size(), limit)}};
}

}  // namespace rankscope::analyzer
