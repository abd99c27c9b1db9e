#include "modes/ending.h"

#include <algorithm>
#include <numeric>

#include "engine/catching.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/launch/log.h"

namespace rankscope::trainer {
namespace {

/// What the messages of ranks with the same problem have in common: "step 5: the loss" of "step 5: the loss of rank 1
/// is nan, ...".
std::string reason_of(const std::string& message) { return message.substr(0, message.find(" of rank ")); }

/// A sentence of several ranks is said by one. Returns the exit status.
int end_together(const Error& error, Rendezvous& rendezvous) {
  const std::string reason = reason_of(error.message);
  if (const auto others = rendezvous.others_who_found(reason)) {
    log_error(*others == 0 ? error.message
                           : format("{}; {} reported the same", error.message, counted(*others, "other rank")));
    rendezvous.mark_reported(reason);
  }
  return exit_status(error.kind);
}

}  // namespace

std::vector<int> everybody(const Placement& place) {
  std::vector<int> ranks(static_cast<std::size_t>(place.world_size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

Result<int> train_among(const Placement& place, Rendezvous& rendezvous, const std::vector<const Comm*>& groups,
                        const std::function<Result<void>()>& train) {
  rendezvous.wait_for_groups();
  const auto trained = catching(train);
  if (trained) return 0;
  const bool lost =
      std::ranges::any_of(groups, [](const Comm* group) { return group != nullptr && group->has_failed(); });
  if (!lost) {
    const Error& error = trained.error();
    if (error.kind == ErrorKind::not_computable && !error.message.empty()) return end_together(error, rendezvous);
    return tl::make_unexpected(error);
  }
  const std::string gone = rendezvous.who_is_gone(trained.error().message);
  log_error(format("rank {}: {}; {}", place.rank, gone.empty() ? "a peer could not be reached" : gone,
                   trained.error().message));
  return 1;
}

}  // namespace rankscope::trainer
