// Ranks that stopped while the others still needed them, and which of them stopped first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hang/process_ends.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer::hang {

/// An operation that peers started and a rank did not.
struct MissedOperation {
  RankId peer;      ///< who started it first
  RunTime started;  ///< on the peer's clock
};

/// How far one rank came in the collectives of its groups.
struct Frontier {
  RankId rank;
  std::int64_t missed = 0;               ///< operations that a peer started and this rank did not
  std::int64_t unfinished = 0;           ///< operations that it started or enqueued and did not finish
  std::optional<MissedOperation> first;  ///< the earliest of the missed ones
};

/// One per present rank, ascending. Send and receive do not count: they have no common order.
[[nodiscard]] std::vector<Frontier> comm_frontiers(const Run& run);

/// A rank that ended badly, or too early. Refers to the run and to its frontier.
struct Suspect {
  const Process* process = nullptr;
  const Frontier* frontier = nullptr;
  std::int64_t steps_behind = 0;
  std::int64_t signal = 0;  ///< that ended it; 0: none, or not known
  bool end_seen = false;    ///< from outside of the process
  bool hung = false;        ///< see EndsOfRun
  nanoseconds lived{};      ///< from the beginning of its recording to its end, as far as it was seen
};

[[nodiscard]] std::vector<Suspect> suspects_of(const Run& run, const Section<StepsSection>& steps,
                                               std::span<const Frontier> frontiers, const EndsOfRun& ends);

/// May the ends of the recordings be put in order?
enum class Ends : std::uint8_t { comparable, unrelated };

/// The one that stopped first: a signal that kills is a proof. Else whoever missed operations that its peers started
/// comes before all who did not: those peers were waiting for it.
[[nodiscard]] const Suspect& root_cause(std::span<const Suspect> suspects, Ends ends);

/// Who hung while peers waited for it, since these only gave up waiting. Else the first whose end was seen, if those of
/// all were, or of all whom peers waited for; else as root_cause() says.
[[nodiscard]] const Suspect& first_lost(std::span<const Suspect> suspects, const EndsOfRun& seen, Ends ends);

/// All vanished at the same point: the job was stopped as a whole, by a time limit for example. Not if some were killed
/// before the others, or all but one were asked to end.
[[nodiscard]] bool stopped_together(const Run& run, std::span<const Suspect> suspects);

/// The recorder was asked to end the job and all ranks ended then, whichever of them was the first: none before it was
/// asked, or, where that was not recorded, all at once.
[[nodiscard]] bool was_asked_to_end(const Run& run, std::span<const Suspect> suspects, Ends ends);

/// False for a rank that only ended badly after everything was done: it has cost nobody anything.
[[nodiscard]] bool was_needed(const Run& run, const Suspect& suspect, std::span<const Frontier> frontiers);

}  // namespace rankscope::analyzer::hang
