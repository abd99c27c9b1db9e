// Which process stands for a rank, and ranks that several processes claim.
#include <algorithm>
#include <optional>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "run_builder_pending.h"

namespace rankscope {
namespace {

/// When each process trained: its steps and collectives. Loader workers and shells carry the rank of the process that
/// started them, but do neither.
std::vector<std::optional<TimeRange>> training_times(std::span<const Span> spans, std::span<const Lane> lanes,
                                                     std::size_t processes) {
  std::vector<std::optional<TimeRange>> times(processes);
  for (const Span& span : spans) {
    if (span.kind != SpanKind::step && span.collective == Span::no_collective) continue;
    std::optional<TimeRange>& time = times[lanes[span.lane.index()].process];
    if (!time) time = span.time;
    time->begin = std::min(time->begin, span.time.begin);
    time->end = std::max(time->end, span.time.end);
  }
  return times;
}

bool overlap(const std::optional<TimeRange>& a, const std::optional<TimeRange>& b) {
  return a && b && a->begin < b->end && b->begin < a->end;
}

}  // namespace

void RunBuilder::Pending::choose_ranks(Run& run) {
  std::vector<std::uint64_t> spans(run.processes_.size(), 0);
  for (const Lane& lane : run.lanes_) spans[lane.process] += lane.span_count;
  for (std::uint32_t row = 0; row < run.processes_.size(); ++row) {
    const RankId rank = run.processes_[row].rank;
    if (!rank.is_set()) continue;
    if (run.ranks_.empty() || run.ranks_.back() != rank) {
      run.ranks_.push_back(rank);
      run.rank_process_.push_back(row);
    } else {
      std::uint32_t& chosen = run.rank_process_.back();
      if (spans[row] > 0 && spans[chosen] > 0) run.quality_.add(Counter::rank_duplicate);
      if (spans[row] > spans[chosen]) chosen = row;
    }
  }
}

// Lanes are sorted by their processes, and those by their ranks.
void RunBuilder::Pending::find_accelerators(Run& run) {
  for (const Lane& lane : run.lanes_)
    if (lane.kind == LaneKind::stream && (run.accelerated_.empty() || run.accelerated_.back() != lane.rank))
      run.accelerated_.push_back(lane.rank);
}

// A rank that was started again has a later process; two at a time are two ranks of one name.
void RunBuilder::Pending::find_contested_ranks(Run& run) {
  if (run.quality_.of(Counter::rank_duplicate) == 0) return;
  const auto times = training_times(run.spans_, run.lanes_, run.processes_.size());
  const auto shown = [&run](std::size_t row) {
    const Process& process = run.processes_[row];
    return format("pid {}{}{}", process.pid, process.host.is_set() ? " on " : "",
                  process.host.is_set() ? run.text(process.host) : std::string_view{});
  };
  for (std::size_t row = 1; row < run.processes_.size(); ++row) {
    const RankId rank = run.processes_[row].rank;
    for (std::size_t before = row; rank.is_set() && before > 0 && run.processes_[before - 1].rank == rank; --before) {
      if (!overlap(times[before - 1], times[row])) continue;
      run.quality_.add(Counter::rank_contested);
      run.info_.places.push_back(
          {Counter::rank_contested, 1, format("rank {}: {} and {}", rank.value, shown(before - 1), shown(row))});
      break;
    }
  }
}

}  // namespace rankscope
