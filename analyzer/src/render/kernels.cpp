#include "render/kernels.h"

#include <algorithm>
#include <utility>

#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"
#include "units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t widest_kernel = 36;
constexpr std::string_view none = "–";

/// Over what the sums of all ranks are divided: their steps, else the ranks.
std::int64_t parts_of(const KernelsSection& section) {
  return section.rank_steps > 0 ? section.rank_steps : static_cast<std::int64_t>(section.ranks.size());
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

std::vector<Cell> cells_of(const KernelRow& row, const KernelsSection& section) {
  const std::int64_t parts = parts_of(section);
  const KernelTimes& times = row.times;
  return {{printable(row.short_name)},
          class_cell(row),
          {mean_count(times.count, parts)},
          {mean_ms(times.sum_ns, parts)},
          {mean_ms(times.exclusive_ns, parts)},
          {share_text(times.exclusive_ns, section.window_ns)},
          {times.count > 0 ? duration_text(times.median_ns) : std::string{none}},
          {times.count > 0 ? duration_text(times.max_ns) : std::string{none}}};
}

Table kernel_table(const KernelsSection& section, std::size_t limit) {
  Table table{{{"kernel or copy", Align::left, widest_kernel},
               {"class", Align::left},
               {"calls"},
               {"ms"},
               {"alone ms"},
               {"of time"},
               {"median"},
               {"longest"}},
              {}};
  const std::size_t shown = std::min(limit, section.names.size());
  for (std::size_t i = 0; i < shown; ++i) table.rows.push_back(cells_of(section.names[i], section));
  if (const KernelRest rest = rest_of(std::span{section.names}, shown); rest.keys > 0) {
    const std::int64_t parts = parts_of(section);
    table.rows.push_back({{format("rest ({} names)", rest.keys)},
                          {""},
                          {mean_count(rest.count, parts)},
                          {mean_ms(rest.sum_ns, parts)},
                          {mean_ms(rest.exclusive_ns, parts)},
                          {share_text(rest.exclusive_ns, section.window_ns)},
                          {""},
                          {""}});
  }
  return table;
}

std::string tensor_note(const KernelsSection& section) {
  const auto ns = [&](TensorCores use) { return section.tensor_cores_ns[static_cast<std::size_t>(use)]; };
  const std::int64_t sum = ns(TensorCores::yes) + ns(TensorCores::no) + ns(TensorCores::unknown);
  if (sum == ns(TensorCores::unknown)) return {};
  const auto shares = apportioned(std::array{ns(TensorCores::yes), ns(TensorCores::no), ns(TensorCores::unknown)}, 100);
  return format(
      "Tensor cores, by the names of the kernels: {} % of the compute time uses them, {} % does not, {} % is not told.",
      shares[0], shares[1], shares[2]);
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
  const bool per_step = section.rank_steps > 0;
  NotedTable kernels{"Kernels",
                     format("calls and ms: mean per {} of {}", per_step ? "step and rank" : "rank",
                            counted(static_cast<std::int64_t>(section.ranks.size()), "rank")),
                     kernel_table(section, most),
                     {}};
  kernels.notes.push_back(
      format("ms counts overlapped time twice; alone ms does not: compute goes before comm before copies, then the "
             "earlier one. {}, {} with their grids and blocks.",
             counted(static_cast<std::int64_t>(section.names.size()), "name"), section.keys.size()));
  if (std::string note = tensor_note(section); !note.empty()) kernels.notes.push_back(std::move(note));
  const auto limit = std::max<std::size_t>(16, most);
  NotedTable together{"What ran together",
                      per_step ? "ms per step; a row adds up to the step" : "ms of the whole recording",
                      together_table(section, limit),
                      {}};
  if (section.ranks.size() > limit)
    together.notes.push_back(
        format("{} more; --top {} shows all.", section.ranks.size() - limit, section.ranks.size()));
  return {std::move(kernels), std::move(together)};
}

}  // namespace rankscope::analyzer
