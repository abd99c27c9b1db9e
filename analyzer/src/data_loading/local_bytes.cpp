#include "data_loading/local.h"
#include "math/checked_product.h"
#include "steps/part_times.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t bytes_of_range = 2;

void write_ranges(digest::PartWriter& out, const std::vector<TimeRange>& ranges) {
  out.number(ranges.size());
  RunTime since = at(0);
  for (const TimeRange& range : ranges) {
    write_range(out, range, since);
    since = range.begin;
  }
}

/// By begin; `total_ns` is the length of all that were read, which must fit.
std::vector<TimeRange> read_ranges(digest::PartReader& in, std::int64_t& total_ns) {
  std::vector<TimeRange> ranges;
  RunTime since = at(0);
  for (std::size_t left = in.count(bytes_of_range); left > 0 && !in.failed(); --left) {
    const TimeRange range = read_range(in, since);
    if (!ranges.empty() && range.begin < since) in.fail("waits or loads are not in the order of their times");
    if (!add_fits(total_ns, range.length().count())) in.fail("the total length of the waits or loads is too large");
    since = range.begin;
    ranges.push_back(range);
  }
  return ranges;
}

}  // namespace

void write_part(digest::PartWriter& out, const DataLoadingPart& part) {
  write_ranges(out, part.waits);
  out.number(part.loads.size());
  for (const auto& worker : part.loads) write_ranges(out, worker);
  out.number(part.own_thread ? 1 : 0);
}

DataLoadingPart read_data_loading_part(digest::PartReader& in) {
  DataLoadingPart part;
  std::int64_t total_ns = 0;
  part.waits = read_ranges(in, total_ns);
  for (std::size_t left = in.count(); left > 0 && !in.failed(); --left) part.loads.push_back(read_ranges(in, total_ns));
  part.own_thread = in.number_to(1) == 1;
  return part;
}

}  // namespace rankscope::analyzer
