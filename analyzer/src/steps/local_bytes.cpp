#include <limits>

#include "math/checked_product.h"
#include "steps/local.h"
#include "steps/part_times.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t farthest_ns = (std::int64_t{1} << 62) - 1;  // twice as much still fits

// What is written of a step besides its index and its range.
constexpr std::uint64_t complete_bit = 1;
constexpr std::uint64_t thinned_bit = 2;

/// Steps follow in the order of their indices, mostly without a gap.
std::int64_t read_index(digest::PartReader& in, const StepsPart& part) {
  if (part.windows.empty()) return in.signed_number();
  const std::int64_t last = part.windows.back().index;
  std::int64_t index = 0;
  const std::uint64_t gap = in.number_to(std::numeric_limits<std::int64_t>::max() - 1);
  if (!__builtin_add_overflow(last, static_cast<std::int64_t>(gap) + 1, &index)) return index;
  in.fail("the index of a step has more than 64 bits");
  return last;
}

void write_index(digest::PartWriter& out, std::span<const StepWindow> windows, std::size_t row) {
  const std::int64_t index = windows[row].index;
  if (row == 0) return out.signed_number(index);
  RS_CHECK(windows[row - 1].index < index);
  out.number(static_cast<std::uint64_t>(index) - static_cast<std::uint64_t>(windows[row - 1].index) - 1);
}

}  // namespace

// Modulo 2^64, so that no time is too far from another to be written.

void write_time(digest::PartWriter& out, RunTime time, RunTime since) {
  out.signed_number(
      static_cast<std::int64_t>(static_cast<std::uint64_t>(ns_of(time)) - static_cast<std::uint64_t>(ns_of(since))));
}

RunTime read_time(digest::PartReader& in, RunTime since) {
  const auto distance = static_cast<std::uint64_t>(in.signed_number());
  const auto ns = static_cast<std::int64_t>(static_cast<std::uint64_t>(ns_of(since)) + distance);
  if (-farthest_ns <= ns && ns <= farthest_ns) return at(ns);
  in.fail("a time is more than 146 years from the start of the run");
  return since;
}

void write_range(digest::PartWriter& out, TimeRange range, RunTime since) {
  write_time(out, range.begin, since);
  write_time(out, range.end, range.begin);
}

TimeRange read_range(digest::PartReader& in, RunTime since) {
  TimeRange range;
  range.begin = read_time(in, since);
  range.end = read_time(in, range.begin);
  if (range.end >= range.begin) return range;
  in.fail("a range of time ends before it begins");
  return {};
}

void write_part(digest::PartWriter& out, const StepsPart& part) {
  write_range(out, part.recorded, at(0));
  out.number(static_cast<std::uint64_t>(part.source));
  out.signed_number(part.leftovers_ns);
  out.number(part.windows.size());
  RunTime since = part.recorded.begin;
  for (std::size_t row = 0; row < part.windows.size(); ++row) {
    const StepWindow& window = part.windows[row];
    write_index(out, part.windows, row);
    write_range(out, window.window, since);
    out.number((window.complete ? complete_bit : 0U) | (window.thinned ? thinned_bit : 0U));
    since = window.window.end;
  }
}

StepsPart read_steps_part(digest::PartReader& in, RankId rank) {
  StepsPart part;
  part.rank = rank;
  part.recorded = read_range(in, at(0));
  part.source = static_cast<MarkSource>(in.number_to(mark_source_count - 1));
  part.leftovers_ns = in.signed_between(0, farthest_ns);
  constexpr std::size_t bytes_of_window = 4;
  const std::size_t windows = in.count(bytes_of_window);
  RunTime since = part.recorded.begin;
  std::int64_t lengths_ns = 0;
  for (std::size_t row = 0; row < windows && !in.failed(); ++row) {
    StepWindow window;
    window.rank = rank;
    window.index = read_index(in, part);
    window.window = read_range(in, since);
    const std::uint64_t bits = in.number_to(complete_bit | thinned_bit);
    window.complete = (bits & complete_bit) != 0;
    window.thinned = (bits & thinned_bit) != 0;
    since = window.window.end;
    if (!part.windows.empty() && window.window.begin < part.windows.back().window.begin)
      in.fail("steps are not in the order of their times");
    if (!add_fits(lengths_ns, window.window.length().count()))
      in.fail("the sum of the step lengths does not fit in 64 bits");
    part.windows.push_back(window);
  }
  return part;
}

}  // namespace rankscope::analyzer
