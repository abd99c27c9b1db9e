#include <algorithm>
#include <array>
#include <limits>

#include "launches/local.h"
#include "math/checked_product.h"

namespace rankscope::analyzer {
namespace {

constexpr std::uint64_t most_launches = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t longest_ns = (std::int64_t{1} << 62) - 1;

/// The counts of a cell, in the order of the bytes.
constexpr std::array begun_counts{
    &LaunchesPart::Begun::launches,      &LaunchesPart::Begun::in_graphs,         &LaunchesPart::Begun::without_launch,
    &LaunchesPart::Begun::began_in_call, &LaunchesPart::Begun::began_before_call, &LaunchesPart::Begun::short_kernels,
    &LaunchesPart::Begun::kernels,
};

void write_begun(digest::PartWriter& out, const LaunchesPart::Begun& begun) {
  out.number(begun.cell);
  for (const auto count : begun_counts) out.number(begun.*count);
  out.signed_number(begun.short_ns);
  out.signed_number(begun.kernels_ns);
  for (const auto* const values : {&begun.calls, &begun.delays, &begun.issues}) out.ascending(*values);
}

void write_row(digest::PartWriter& out, const LaunchesPart::Row& row) {
  out.signed_number(row.device);
  out.signed_number(row.stream);
  out.number(row.begun.size());
  for (const LaunchesPart::Begun& begun : row.begun) write_begun(out, begun);
  out.number(row.queued.size());
  for (const DepthTimes& cell : row.queued) {
    out.number(cell.ns_at.size());
    for (const auto& [depth, ns] : cell.ns_at) {
      out.signed_number(depth);
      out.signed_number(ns);
    }
    out.signed_number(cell.empty_and_idle_ns);
  }
}

bool are_within(const std::vector<std::int64_t>& ascending, std::int64_t least) {
  return ascending.empty() || (ascending.front() >= least && ascending.back() <= longest_ns);
}

bool agrees_with_itself(const LaunchesPart::Begun& begun) {
  if (begun.in_graphs > begun.launches || begun.kernels > begun.launches - begun.in_graphs) return false;
  if (begun.short_kernels > begun.kernels || begun.short_ns > begun.kernels_ns) return false;
  const bool complete = begun.calls.size() == begun.launches - begun.in_graphs &&
                        begun.delays.size() == begun.launches && begun.issues.size() == begun.launches;
  return complete && are_within(begun.calls, 0) && are_within(begun.delays, 0) && are_within(begun.issues, -longest_ns);
}

LaunchesPart::Begun read_begun(digest::PartReader& in, const TimeCells& cells) {
  LaunchesPart::Begun begun;
  begun.cell = static_cast<std::uint32_t>(in.number_to(cells.count() - 1));
  for (const auto count : begun_counts) begun.*count = in.number_to(most_launches);
  begun.short_ns = in.signed_between(0, longest_ns);
  begun.kernels_ns = in.signed_between(0, longest_ns);
  for (auto* const values : {&begun.calls, &begun.delays, &begun.issues}) *values = in.ascending();
  if (!agrees_with_itself(begun)) in.fail("the numbers of launches contradict each other");
  return begun;
}

/// Depths ascend, and their times add up to the cell.
DepthTimes read_depths(digest::PartReader& in, std::int64_t length_ns) {
  DepthTimes times;
  std::int64_t left_ns = length_ns;
  constexpr std::size_t bytes_of_depth = 2;
  for (std::size_t left = in.count(bytes_of_depth); left > 0 && !in.failed(); --left) {
    const std::int64_t least = times.ns_at.empty() ? 0 : times.ns_at.rbegin()->first + 1;
    const std::int64_t depth = in.signed_between(least, longest_ns);
    const std::int64_t ns = in.signed_between(1, left_ns);
    times.ns_at[depth] = ns;
    left_ns -= ns;
  }
  if (left_ns != 0) in.fail("the times at the queue depths do not add up to the length of the cell");
  const auto empty = times.ns_at.find(0);
  times.empty_and_idle_ns = in.signed_between(0, empty == times.ns_at.end() ? 0 : empty->second);
  return times;
}

LaunchesPart::Row read_row(digest::PartReader& in, const TimeCells& cells) {
  LaunchesPart::Row row;
  row.device = static_cast<std::int32_t>(in.signed_between(-1, std::numeric_limits<std::int32_t>::max()));
  row.stream = in.signed_number();
  std::int64_t kernels_ns = 0;
  constexpr std::size_t bytes_of_begun = 13;
  for (std::size_t left = in.count(bytes_of_begun); left > 0 && !in.failed(); --left) {
    row.begun.push_back(read_begun(in, cells));
    if (row.begun.size() > 1 && row.begun.back().cell <= row.begun[row.begun.size() - 2].cell)
      in.fail("launches are not in the order of their cells");
    if (!add_fits(kernels_ns, row.begun.back().kernels_ns)) in.fail("the total length of the kernels is too large");
  }
  if (in.number() != cells.bounded()) in.fail("its steps differ from those of the rank");
  for (std::size_t cell = 1; cell <= cells.bounded() && !in.failed(); ++cell)
    row.queued.push_back(read_depths(in, cells.range(cell).length().count()));
  return row;
}

}  // namespace

void write_part(digest::PartWriter& out, const LaunchesPart& part) {
  out.number(part.any_launch ? 1 : 0);
  write_row(out, part.all);
  out.number(part.streams.size());
  for (const LaunchesPart::Row& stream : part.streams) write_row(out, stream);
}

LaunchesPart read_launches_part(digest::PartReader& in, const TimeCells& cells) {
  LaunchesPart part;
  part.any_launch = in.number_to(1) == 1;
  part.all = read_row(in, cells);
  for (std::size_t left = in.count(); left > 0 && !in.failed(); --left) part.streams.push_back(read_row(in, cells));
  return part;
}

}  // namespace rankscope::analyzer
