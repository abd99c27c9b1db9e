#include "modes/ending.h"

#include <algorithm>
#include <numeric>

#include "modes/catching.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/log.h"

namespace rankscope::trainer {

std::vector<int> everybody(const Placement& place) {
  std::vector<int> ranks(static_cast<std::size_t>(place.world_size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

Result<int> train_among(const Placement& place, Rendezvous& rendezvous, const std::vector<const Comm*>& groups,
                        const std::function<Result<void>()>& train) {
  const auto trained = catching(train);
  if (trained) return 0;
  const bool lost =
      std::ranges::any_of(groups, [](const Comm* group) { return group != nullptr && group->has_failed(); });
  if (!lost) return tl::make_unexpected(trained.error());
  const std::string gone = rendezvous.who_is_gone(trained.error().message);
  log_error(format("rank {}: {}; {}", place.rank, gone.empty() ? "a peer could not be reached" : gone,
                   trained.error().message));
  return 1;
}

}  // namespace rankscope::trainer
