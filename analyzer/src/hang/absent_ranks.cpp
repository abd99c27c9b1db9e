#include "hang/absent_ranks.h"

#include <algorithm>

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

AbsentRanks absent_ranks(const Run& run) {
  const std::int64_t world = run.info().world_size;
  AbsentRanks absent;
  if (run.ranks().empty()) return absent;
  const auto add = [&absent](std::int64_t first, std::int64_t end) {
    if (first >= end) return;
    absent.ranges.push_back({first, end - 1});
    absent.count += end - first;
  };
  std::int64_t next = 0;
  for (const RankId rank : run.ranks()) {
    add(next, std::min<std::int64_t>(rank.value, world));
    next = static_cast<std::int64_t>(rank.value) + 1;
  }
  add(next, world);
  return absent;
}

}  // namespace rankscope::analyzer
