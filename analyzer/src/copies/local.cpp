#include "copies/local.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "math/checked_product.h"
#include "math/interval_set.h"
#include "rankscope/core/model/run.h"
#include "split/device_work.h"
#include "split/host_timeline.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 48;  // no memory holds more; damaged numbers must not overflow

/// Copies of one rank by name and cell.
using CopyDraft = std::map<std::pair<std::uint32_t, std::uint32_t>, CopiesPart::Copies>;

CopiesPart::Copies& entry_of(CopyDraft& draft, std::uint32_t name, std::size_t cell) {
  const auto place = std::pair{name, static_cast<std::uint32_t>(cell)};
  CopiesPart::Copies& entry = draft[place];
  std::tie(entry.name, entry.cell) = place;
  return entry;
}

/// Copies and memsets; communication of a rank with itself is memory work, but no copy.
bool is_copy(const Run& run, const Activity& activity) {
  return activity.kind == ActivityClass::memory && run.span(activity.span).kind == SpanKind::memory;
}

void add_copy(CopiesPart::Copies& entry, std::int64_t ns, std::optional<AttributeValue> bytes) {
  ++entry.count;
  entry.sum_ns += ns;
  const bool told = bytes && bytes->kind == AttributeKind::number && bytes->number >= 0;
  const bool fits = told && bytes->number <= most_bytes && add_fits(entry.bytes, bytes->number);
  if (told && !fits) ++entry.too_large;
  if (fits) ++entry.sized;
  if (!fits || ns == 0) {
    ++entry.unmeasured;
  } else {
    entry.measured_bytes += bytes->number;
    entry.measured_ns += ns;
  }
}

IntervalSet times_of_class(std::span<const Activity> activities, ActivityClass kind) {
  std::vector<TimeRange> times;
  for (const Activity& activity : activities)
    if (activity.kind == kind) times.push_back(activity.time);
  return IntervalSet::from(std::move(times));
}

/// By name the time in which nothing hid its copies.
void add_exposed(const Run& run, std::span<const Activity> activities, const TimeCells& cells, PartTexts& texts,
                 CopyDraft& draft) {
  std::map<StringId, std::vector<TimeRange>> times;
  for (const Activity& activity : activities)
    if (is_copy(run, activity)) times[run.span(activity.span).name].push_back(activity.time);
  const IntervalSet compute = times_of_class(activities, ActivityClass::compute);
  const IntervalSet comm = times_of_class(activities, ActivityClass::comm);
  for (auto& [name, ranges] : times) {
    const std::uint32_t row = texts(name);
    const IntervalSet exposed = without(without(IntervalSet::from(std::move(ranges)), compute), comm);
    for (const TimeRange& open : exposed.intervals())
      for (std::size_t cell = cells.at(open.begin); cell < cells.count() && cells.range(cell).begin < open.end; ++cell)
        entry_of(draft, row, cell).exposed_ns += intersect(open, cells.range(cell)).length().count();
  }
}

/// Before it the program starts up.
RunTime first_work(std::span<const Activity> activities) {
  return activities.empty() ? RunTime::max() : activities.front().time.begin;
}

void take_calls(const std::map<CallKey, CallSum>& calls, PartTexts& texts, CopiesPart& part) {
  for (const auto& [key, sum] : calls) {
    CopiesPart::Calls& row = part.calls.emplace_back();
    row.use = key.use;
    row.call = texts(key.call);
    row.op = texts(key.op);
    row.range = texts(key.range);
    row.cell = key.cell;
    row.before_work = key.before_work;
    row.count = sum.count;
    row.ns = sum.ns;
  }
}

}  // namespace

LocalCopies::LocalCopies(const Run& run) : run_(run), bytes_(run.strings().find(keys::bytes)), calls_(run) {}

/// The call of a copy that returns only when it is done, or copies memory that the device cannot reach by itself.
std::optional<SpanId> LocalCopies::blocking_call(SpanId copy) const {
  const auto links = run_.links_to(LinkKind::launch, copy);
  if (links.empty()) return std::nullopt;
  const SpanId call = links.front().from;
  const bool pageable = run_.text(run_.span(copy).name).find("Pageable") != std::string_view::npos;
  if (!pageable && !blocks_host(run_.text(run_.span(call).name))) return std::nullopt;
  return call;
}

CopiesPart LocalCopies::of(RankId rank, const TimeCells& cells) {
  CopiesPart part;
  PartTexts texts{run_, part.texts};
  CopyDraft draft;
  std::vector<SpanId> waits;
  const std::vector<Activity> activities = activities_of(run_, rank);
  for (const Activity& activity : activities) {
    if (!is_copy(run_, activity)) continue;
    const auto bytes = bytes_.is_set() ? run_.attributes_of(activity.span).find(bytes_) : std::nullopt;
    const std::uint32_t name = texts(run_.span(activity.span).name);
    add_copy(entry_of(draft, name, cells.at(activity.time.begin)), activity.time.length().count(), bytes);
    if (const auto call = blocking_call(activity.span)) waits.push_back(*call);
  }
  add_exposed(run_, activities, cells, texts, draft);
  for (const auto& [place, entry] : draft) part.copies.push_back(entry);
  std::ranges::sort(waits);
  const auto process = run_.process_row_of(rank);
  for (const Lane& lane : run_.lanes())
    if (lane.process == process && lane.kind == LaneKind::thread)
      calls_.over(lane, cells, waits, first_work(activities));
  take_calls(calls_.take(), texts, part);
  return part;
}

}  // namespace rankscope::analyzer
