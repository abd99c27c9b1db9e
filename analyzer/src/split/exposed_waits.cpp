#include "split/exposed_waits.h"

namespace rankscope::analyzer {
namespace {

const IntervalSet& of(const Layers& layers, Layer layer) { return layers[static_cast<std::size_t>(layer)]; }

IntervalSet inside(const IntervalSet& set, const IntervalSet& other) { return without(set, without(set, other)); }

}  // namespace

std::vector<ExposedWait> exposed_waits(const Run& run, RankId rank, const Matching& matching, const Layers& layers,
                                       const CountedWindows& windows) {
  const IntervalSet exposed =
      without(without(of(layers, Layer::wait), of(layers, Layer::compute)), of(layers, Layer::transfer));
  const IntervalSet counted = inside(exposed, IntervalSet::from(windows.ranges));
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

}  // namespace rankscope::analyzer
