#include "stragglers/shared_devices.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/units.h"

namespace rankscope::analyzer {

SharedDevices::SharedDevices(const Run& run) {
  for (const RankId rank : run.ranks()) {
    const auto process = run.process_row_of(rank);
    const auto uses = [&](const Device& device) {
      return std::ranges::any_of(run.lanes(), [&](const Lane& lane) {
        return lane.process == process && lane.kind == LaneKind::stream && lane.device == device.ordinal;
      });
    };
    for (const Device& device : run.devices())
      if (device.process == process && device.uuid.is_set() && uses(device)) ranks_[device.uuid].push_back(rank);
  }
  std::erase_if(ranks_, [](const auto& device) { return device.second.size() < 2; });
}

bool SharedDevices::explain(const Straggler& row) const {
  return (row.kind == StragglerKind::network || row.kind == StragglerKind::memory) &&
         std::ranges::any_of(ranks_, [&](const auto& device) {
           return std::ranges::find(device.second, row.rank) != device.second.end();
         });
}

std::string SharedDevices::text() const {
  return format(
      "{} share a GPU, which executes the kernels of one process at a time, so a rank that starts its communication or "
      "its copies late cannot be distinguished from one that had to wait for its turn",
      ranks_text(ranks_.begin()->second));
}

}  // namespace rankscope::analyzer
