// Sends and receives that do not name their partners, by their place in a step (metrics.md 5, K6).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// One send or receive, in ns of run time.
struct UnpairedCall {
  std::uint32_t row = 0;        ///< of Run::collectives()
  std::int64_t start_ns = 0;    ///< of the call
  std::int64_t blocked_ns = 0;  ///< from when on the thread may have waited for its end
  std::int64_t end_ns = 0;
  std::int64_t bytes = -1;  ///< -1: not recorded
};

/// The n-th send, or the n-th receive, of a rank in each step: a program that repeats a schedule has the same partner
/// there every time.
struct CallSite {
  RankId rank{};
  std::vector<UnpairedCall> calls;  ///< by step
};

struct UnpairedCalls {
  std::vector<CallSite> sends;  ///< by (rank, place)
  std::vector<CallSite> receives;
  std::size_t all = 0;  ///< sends and receives without partner, in all steps and outside of steps
  std::string why;      ///< why there are no sites, if there are such calls
};

/// Only calls on threads of the program that have ended. Steps that some rank has not marked, that were cut off, or in
/// which a rank makes other calls than in most steps are left out. If a rank marks no steps, the recording counts as
/// one step.
[[nodiscard]] UnpairedCalls unpaired_calls(const Run& run);

}  // namespace rankscope::analyzer
