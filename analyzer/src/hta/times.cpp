// HTA's temporal breakdown, overlap and kernel types (metrics.md 19.4, 19.5).
#include <algorithm>
#include <array>
#include <string>

#include "hta/find.h"

namespace rankscope::analyzer {
namespace {

/// Not a TimeRange: rounding may put an end before its begin, and HTA counts that as negative time.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
using Stretches = std::vector<Stretch>;

/// The kept device rows that fit, merged as HTA does: a new stretch begins only behind all earlier ends.
template <class Fits>
Stretches merged(const HtaRows& rows, Fits fits) {
  Stretches stretches;
  for (const HtaRow& row : rows.device) {
    if (row.copies == 0 || !fits(row)) continue;
    if (stretches.empty() || row.begin_ns > stretches.back().end)
      stretches.push_back({row.begin_ns, row.end_ns});
    else
      stretches.back().end = std::max(stretches.back().end, row.end_ns);
  }
  return stretches;
}

Stretches merged(const HtaRows& rows, HtaNames& names, HtaClass kind) {
  return merged(rows, [&](const HtaRow& row) { return names.of(row.name).kind == kind; });
}

std::int64_t length(const Stretches& stretches) {
  std::int64_t sum = 0;
  for (const Stretch& stretch : stretches) sum += stretch.end - stretch.begin;
  return sum;
}

/// Time in both.
std::int64_t common(const Stretches& left, const Stretches& right) {
  std::int64_t sum = 0;
  auto a = left.begin();
  auto b = right.begin();
  while (a != left.end() && b != right.end()) {
    sum += std::max<std::int64_t>(0, std::min(a->end, b->end) - std::max(a->begin, b->begin));
    if (a->end < b->end)
      ++a;
    else
      ++b;
  }
  return sum;
}

constexpr std::array type_order{HtaClass::computation, HtaClass::communication, HtaClass::memory};
using TypeSums = std::array<std::int64_t, 1U << type_order.size()>;

/// Between two edges the set of running classes is constant; bit i = type_order[i].
void add_type_times(const HtaRows& rows, HtaNames& names, TypeSums& sums) {
  struct Edge {
    std::int64_t at = 0;
    std::int32_t change = 0;
  };
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < type_order.size(); ++i)
    for (const Stretch& stretch : merged(rows, names, type_order[i])) {
      edges.push_back({stretch.begin, 1 << i});
      edges.push_back({stretch.end, -(1 << i)});
    }
  std::ranges::stable_sort(edges, {}, &Edge::at);
  std::int32_t running = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    running += edges[i].change;
    if (running > 0) sums[static_cast<std::size_t>(running) % sums.size()] += edges[i + 1].at - edges[i].at;
  }
}

std::string label_of(std::size_t bits) {
  std::string label;
  for (std::size_t i = 0; i < type_order.size(); ++i) {
    if ((bits & (std::size_t{1} << i)) == 0) continue;
    if (!label.empty()) label += " overlapping ";
    label += name_of(type_order[i]);
  }
  return label;
}

}  // namespace

Section<HtaTimes> hta_times(const HtaRows& rows, HtaNames& names) {
  const Stretches all = merged(rows, [](const HtaRow&) { return true; });
  if (all.empty()) return unavailable("HTA has no device rows for this rank");
  HtaTimes times;
  times.kernel_ns = all.back().end - all.front().begin;
  times.idle_ns = times.kernel_ns - length(all);
  times.compute_ns = length(merged(rows, names, HtaClass::computation));
  times.non_compute_ns = times.kernel_ns - times.idle_ns - times.compute_ns;
  return times;
}

Ratio hta_overlap_percent(const HtaRows& rows, HtaNames& names) {
  const Stretches communication = merged(rows, names, HtaClass::communication);
  const std::int64_t all = length(communication);
  if (all == 0) return {std::nullopt, "no communication"};
  return {hta_percent(common(communication, merged(rows, names, HtaClass::computation)), all, 2), {}};
}

std::vector<HtaTypeTime> hta_types(std::span<const HtaRows> ranks, HtaNames& names) {
  TypeSums sums{};
  for (const HtaRows& rows : ranks) add_type_times(rows, names, sums);
  std::int64_t all = 0;
  for (const std::int64_t sum : sums) all += sum;
  std::vector<HtaTypeTime> types;
  for (std::size_t bits = 1; bits < sums.size(); ++bits)
    if (sums[bits] != 0) types.push_back({label_of(bits), sums[bits], hta_percent(sums[bits], all, 1)});
  std::ranges::stable_sort(types, std::ranges::greater{}, &HtaTypeTime::sum_ns);
  return types;
}

}  // namespace rankscope::analyzer
