#include "operators/parts.h"

#include <algorithm>

#include "operators/range_walk.h"
#include "rankscope/core/model/run.h"
#include "split/device_work.h"
#include "steps/parts.h"

namespace rankscope::analyzer {
namespace {

/// Both tables at once.
class Tables {
 public:
  explicit Tables(const Run& run)
      : run_(run), operators_(run, RangeKind::operators), annotations_(run, RangeKind::annotations) {}

  void add(RankId rank, const CountedWindows& windows) {
    ++section_.ranks;
    section_.rank_steps += windows.steps;
    const std::vector<LaunchedTime> launches = launches_of(rank, windows);
    const WindowTime window_time{windows};
    const auto process = run_.process_row_of(rank);
    for (const Lane& lane : run_.lanes()) {
      if (lane.process != process || lane.kind != LaneKind::thread) continue;
      operators_.over(lane, window_time, launches);
      annotations_.over(lane, window_time, launches);
    }
  }

  Section<OperatorsSection> finish() && {
    section_.operators = std::move(operators_).finish();
    section_.annotations = std::move(annotations_).finish();
    if (section_.operators.rows.empty() && section_.annotations.rows.empty())
      return unavailable("no operators or annotations were recorded");
    return std::move(section_);
  }

 private:
  /// By the call. Work without one, or whose call is on no thread of the process, is charged to nothing here.
  std::vector<LaunchedTime> launches_of(RankId rank, const CountedWindows& windows) {
    std::vector<LaunchedTime> launches;
    if (!run_.has_accelerator(rank)) return launches;
    ++section_.accelerators;
    for (const Activity& activity : device_work(run_, rank, windows).activities) {
      section_.device_ns += activity.exclusive_ns;
      const auto links = run_.links_to(LinkKind::launch, activity.span);
      const bool launched = !links.empty() && is_thread_of(rank, links.front().from);
      if (launched) {
        launches.push_back({links.front().from, activity.exclusive_ns});
      } else {
        operators_.add_unlaunched(activity.exclusive_ns);
        annotations_.add_unlaunched(activity.exclusive_ns);
      }
    }
    std::ranges::sort(launches, {}, &LaunchedTime::from);
    return launches;
  }

  [[nodiscard]] bool is_thread_of(RankId rank, SpanId call) const {
    const Lane& lane = run_.lane(run_.span(call).lane);
    return lane.kind == LaneKind::thread && &run_.processes()[lane.process] == &run_.process_of(rank);
  }

  const Run& run_;
  RangeWalk operators_;
  RangeWalk annotations_;
  OperatorsSection section_;
};

}  // namespace

Section<OperatorsSection> tabulate_operators(const Run& run, const Section<StepsSection>& steps,
                                             const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  Tables tables{run};
  for (const RankId rank : ranks_to_sum(run, steps, options, Among::all_ranks))
    tables.add(rank, counted_windows(run, rank, steps));
  return std::move(tables).finish();
}

}  // namespace rankscope::analyzer
