#include "blame/member_times.h"

#include <algorithm>

#include "rankscope/core/model/run.h"
#include "steps/counted_windows.h"

namespace rankscope::analyzer {
namespace {

const IntervalSet& of(const Layers& layers, Layer layer) { return layers[static_cast<std::size_t>(layer)]; }

IntervalSet common_part(const IntervalSet& set, const IntervalSet& other) { return without(set, without(set, other)); }

bool has(std::uint32_t bits, Layer layer) { return (bits >> static_cast<unsigned>(layer) & 1U) != 0; }

std::size_t index_of(DelayPart part) { return static_cast<std::size_t>(part); }

/// What the rank did in a stretch with these layers.
std::size_t part_of(std::uint32_t bits) {
  if (has(bits, Layer::compute)) return index_of(DelayPart::compute);
  if (has(bits, Layer::own_in_comm) && !has(bits, Layer::accelerator)) return index_of(DelayPart::host);
  if (has(bits, Layer::transfer)) return index_of(DelayPart::network);
  if (has(bits, Layer::wait)) return spent_waiting;
  if (has(bits, Layer::unsplit)) return index_of(DelayPart::unmatched);
  if (has(bits, Layer::host_wait)) return index_of(has(bits, Layer::own_delay) ? DelayPart::network : DelayPart::host);
  if (has(bits, Layer::memory)) return index_of(DelayPart::memory);
  if (has(bits, Layer::for_others)) return index_of(DelayPart::unmatched);
  return index_of(has(bits, Layer::data) ? DelayPart::data : DelayPart::host);
}

/// On a CPU rank: what the host does while a send or receive is under way is no waiting.
IntervalSet work_during_pairs(const Layers& layers) {
  return of(layers, Layer::accelerator).empty() ? of(layers, Layer::own_in_comm) : IntervalSet{};
}

/// The rows of one rank: Run::collectives() is sorted by rank.
std::pair<std::uint32_t, std::uint32_t> rows_of(const Run& run, RankId rank) {
  const auto own = std::ranges::equal_range(run.collectives(), rank, {}, &Collective::rank);
  const auto first = static_cast<std::uint32_t>(own.begin() - run.collectives().begin());
  return {first, first + static_cast<std::uint32_t>(own.size())};
}

}  // namespace

std::vector<ExposedWait> exposed_waits(const Run& run, RankId rank, const Matching& matching, const Layers& layers,
                                       const CountedWindows& windows) {
  const IntervalSet exposed =
      without(without(without(of(layers, Layer::wait), of(layers, Layer::compute)), of(layers, Layer::transfer)),
              work_during_pairs(layers));
  const IntervalSet counted = common_part(exposed, IntervalSet::from(windows.ranges));
  Inside anywhere{exposed};
  Inside in_windows{counted};
  std::vector<ExposedWait> waits;
  RunTime covered = RunTime::min();
  for (const Span* span : communication_of(run, rank)) {
    if (span->collective == Span::no_collective) continue;
    const MemberPart& part = matching.parts[span->collective];
    if (!part.split || part.wait_ns <= 0) continue;
    const TimeRange wait{std::max(span->time.begin, covered),
                         std::min(span->time.begin + nanoseconds{part.wait_ns}, span->time.end)};
    if (wait.empty()) continue;
    covered = wait.end;
    waits.push_back({span->collective, anywhere.length_ns(wait), in_windows.length_ns(wait)});
  }
  return waits;
}

std::vector<Spent> spent_before(const Layers& layers, std::span<const RunTime> times) {
  std::vector<Spent> result;
  result.reserve(times.size());
  Sweep sweep(layers);
  Spent sum{};
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i > 0)
      sweep.over({times[i - 1], times[i]}, [&](std::int64_t ns, std::uint32_t bits) { sum[part_of(bits)] += ns; });
    result.push_back(sum);
  }
  return result;
}

std::vector<WorkDuringPair> pair_work_before(const Layers& layers, std::span<const RunTime> times) {
  std::vector<WorkDuringPair> result(times.size());
  if (work_during_pairs(layers).empty()) return result;
  Sweep sweep(layers);
  for (std::size_t i = 1; i < times.size(); ++i) {
    WorkDuringPair& sum = result[i] = result[i - 1];
    sweep.over({times[i - 1], times[i]}, [&sum](std::int64_t ns, std::uint32_t bits) {
      if (has(bits, Layer::own_in_comm)) (has(bits, Layer::compute) ? sum.compute_ns : sum.host_ns) += ns;
    });
  }
  return result;
}

MemberTimes::MemberTimes(const Run& run, const Section<StepsSection>& steps, const Matching& matching,
                         const ReportOptions& options)
    : run_(run), times_(run.collectives().size()), waits_(run.ranks().size()), begins_(run.ranks().size()) {
  const std::vector<RankId> counted = ranks_to_sum(run, steps, options, Among::all_ranks);
  for (const RankId rank : run.ranks())
    add_rank(rank, steps, matching, std::ranges::find(counted, rank) != counted.end());
}

void MemberTimes::add_rank(RankId rank, const Section<StepsSection>& steps, const Matching& matching, bool counts) {
  const std::size_t place = run_.place_of(rank);
  const auto [first, last] = rows_of(run_, rank);
  if (first == last) return;
  const Layers layers = layers_of(run_, rank, matching).layers;
  for (const ExposedWait& wait : exposed_waits(run_, rank, matching, layers, counted_windows(run_, rank, steps))) {
    times_[wait.row].exposed_ns = wait.ns;
    if (counts) times_[wait.row].counted_ns = wait.counted_ns;
    waits_[place].push_back(wait.row);
  }
  std::vector<RunTime> moments{std::min(run_.extent().begin, run_.process_of(rank).recorded.begin)};
  if (steps)
    for (const StepWindow& window : windows_of(*steps, rank)) moments.push_back(window.window.begin);
  const std::size_t steps_end = moments.size();
  for (std::uint32_t row = first; row < last; ++row) {
    if (run_.collectives()[row].state != CommState::finished) continue;
    moments.push_back(run_.collectives()[row].started);
    moments.push_back(run_.collectives()[row].finished);
  }
  std::vector<RunTime> ascending = moments;
  std::ranges::sort(ascending);
  const std::vector<Spent> spent = spent_before(layers, ascending);
  const std::vector<WorkDuringPair> work = pair_work_before(layers, ascending);
  const auto place_of = [&](RunTime time) {
    return static_cast<std::size_t>(std::ranges::lower_bound(ascending, time) - ascending.begin());
  };
  for (std::size_t i = 0; i < steps_end; ++i) begins_[place].push_back({moments[i], spent[place_of(moments[i])]});
  for (std::uint32_t row = first; row < last; ++row) {
    if (run_.collectives()[row].state != CommState::finished) continue;
    const std::size_t start = place_of(run_.collectives()[row].started);
    const std::size_t end = place_of(run_.collectives()[row].finished);
    times_[row].at_start = spent[start];
    times_[row].at_end = spent[end];
    times_[row].work = {work[end].compute_ns - work[start].compute_ns, work[end].host_ns - work[start].host_ns};
  }
}

Beginning MemberTimes::beginning_of(std::uint32_t row) const {
  const Collective& member = run_.collectives()[row];
  const std::vector<Beginning>& begins = begins_[run_.place_of(member.rank)];
  auto after = std::ranges::upper_bound(begins.begin() + 1, begins.end(), member.started, {}, &Beginning::time);
  return *(after - 1);
}

const std::vector<std::uint32_t>& MemberTimes::waits_of(RankId rank) const { return waits_[run_.place_of(rank)]; }

}  // namespace rankscope::analyzer
