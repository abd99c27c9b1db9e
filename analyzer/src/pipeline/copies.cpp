#include "pipeline/copies.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace rankscope::analyzer {
namespace {

using Key = std::tuple<PipelinePart, std::int32_t, std::int32_t, std::int32_t>;

Key key_of(const MarkedAction& marked) {
  return {marked.action.part, marked.action.chunk, marked.action.micro_batch, marked.stage};
}

/// The latest run of an action: where it stands in the result, and on which lanes it was seen.
struct Latest {
  std::size_t at = 0;
  std::vector<std::uint32_t> lanes;
};

}  // namespace

std::vector<MarkedAction> without_copies(std::vector<RecordedAction> recorded) {
  std::ranges::stable_sort(recorded, {}, [](const RecordedAction& one) { return one.marked.time.begin; });
  std::vector<MarkedAction> actions;
  std::map<Key, Latest> latest;
  for (const auto& [marked, lane] : recorded) {
    Latest& same = latest[key_of(marked)];
    if (!same.lanes.empty() && std::ranges::find(same.lanes, lane) == same.lanes.end()) {
      RunTime& end = actions[same.at].time.end;
      if (marked.time.begin < end || same.at + 1 == actions.size()) {
        end = std::max(end, marked.time.end);
        same.lanes.push_back(lane);
        continue;
      }
    }
    same = {actions.size(), {lane}};
    actions.push_back(marked);
  }
  return actions;
}

}  // namespace rankscope::analyzer
