#include "importers/kineto/lost_tails.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "math/statistics.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::kineto {
namespace {

constexpr nanoseconds shortest_tail{1'000'000};
constexpr int least_share = 10;  // a tail is longer than one of so many parts of the recording
constexpr std::size_t least_launches_lost = 3;

/// Until when one file shows work.
struct WorkEnds {
  std::optional<RunTime> begin{};
  std::optional<RunTime> host{};      ///< begin of the last operator or call: an outer one may end at any time
  std::optional<RunTime> device{};    ///< end of the last activity
  std::optional<RunTime> profiler{};  ///< when it was stopped
  [[nodiscard]] std::optional<RunTime> any() const { return std::max(host, device); }
};

void extend(std::optional<RunTime>& end, RunTime time) { end = std::max(end.value_or(time), time); }

WorkEnds work_ends(const TraceFile& file, const RunBuilder& run) {
  std::vector<LaneClass> classes(run.lanes().size(), LaneClass::overhead);
  for (const auto& [key, lane] : file.lanes) classes[lane.index()] = key.what;
  WorkEnds ends;
  for (std::uint32_t row = file.first_span; row < file.end_span; ++row) {
    const Span& span = run.spans()[row];
    const LaneClass lane = classes[span.lane.index()];
    const bool on_host = span.kind == SpanKind::op || span.kind == SpanKind::runtime || span.kind == SpanKind::comm;
    if (lane == LaneClass::profiler)
      extend(ends.profiler, span.time.end);
    else if (lane == LaneClass::stream)
      extend(ends.device, span.time.end);
    else if (lane == LaneClass::thread && on_host)
      extend(ends.host, span.time.begin);
    else
      continue;
    ends.begin = std::min(ends.begin.value_or(span.time.begin), span.time.begin);
  }
  return ends;
}

/// The middle one of what the other files show.
std::optional<RunTime> end_of_others(std::span<const WorkEnds> all, std::size_t own,
                                     std::optional<RunTime> (*end_of)(const WorkEnds&)) {
  std::vector<std::int64_t> ends_ns;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const auto end = end_of(all[i]); i != own && end) ends_ns.push_back(ns_of(*end));
  if (ends_ns.empty()) return std::nullopt;
  return at(ends_ns[median_row(ends_ns)]);
}

bool is_long(nanoseconds tail, RunTime begin, RunTime end) {
  return tail > shortest_tail && tail > (end - begin) / least_share;
}

/// Calls that launched work after `time`, of which nothing was recorded.
std::size_t launches_lost(const TraceFile& file, const RunBuilder& run, RunTime time) {
  std::unordered_set<std::int64_t> known;
  for (const Numbered& activity : file.activities) known.insert(activity.number);
  return static_cast<std::size_t>(std::ranges::count_if(file.calls, [&](const Numbered& call) {
    const Span& span = run.spans()[call.span];
    return span.time.begin > time && !known.contains(call.number) &&
           run.text(span.name).find("Launch") != std::string_view::npos;
  }));
}

/// Since when the events of a file are missing.
std::optional<RunTime> tail_lost_from(std::span<const TraceFile> files, std::span<const WorkEnds> all, std::size_t own,
                                      const RunBuilder& run) {
  const WorkEnds& ends = all[own];
  if (!ends.any() || !ends.begin) return std::nullopt;
  const auto others = end_of_others(all, own, [](const WorkEnds& other) { return other.any(); });
  if (others && is_long(*others - *ends.any(), *ends.begin, *others)) {
    const nanoseconds tail = *others - *ends.any();
    const bool stopped = ends.profiler && *ends.profiler - *ends.any() <= tail / 2;
    if (!stopped) return ends.any();
  }
  const auto devices = end_of_others(all, own, [](const WorkEnds& other) { return other.device; });
  if (!devices || !ends.device || !is_long(*devices - *ends.device, *ends.begin, *devices)) return std::nullopt;
  return launches_lost(files[own], run, *ends.device) >= least_launches_lost ? ends.device : std::nullopt;
}

}  // namespace

void mark_lost_tails(std::span<const TraceFile> files, std::span<const RankId> ranks, RunBuilder& run) {
  if (files.size() < 2) return;
  std::vector<WorkEnds> all;
  for (const TraceFile& file : files) all.push_back(work_ends(file, run));
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto from = tail_lost_from(files, all, i, run);
    if (!from || files[i].metadata.own) continue;
    // A file that was cut has its own counter.
    if (!files[i].is_cut()) {
      run.quality().add(Counter::tails_lost);
      run.info().places.push_back(
          {Counter::tails_lost, 1, files[i].path.filename().string(), ranks[i], TimeRange{*from, RunTime::max()}});
    }
    for (std::uint32_t row = files[i].first_span; row < files[i].end_span; ++row) {
      const Span& span = run.spans()[row];
      if (span.kind == SpanKind::step && span.time.end > *from)
        run.reclassify(row, SpanKind::step, span.flags | span_flag::cut_end);
    }
  }
}

}  // namespace rankscope::analyzer::kineto
