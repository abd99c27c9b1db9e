// Steps of more ranks than were measured, drawn from the steps of those that were (metrics.md 16.1, 16.3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scaling/step_system.h"
#include "scaling/transfer_fit.h"

namespace rankscope::analyzer::scaling {

inline constexpr int draws = 500;

/// Steps that run the same collectives, as far as they can be drawn from.
struct Pool {
  std::vector<StepSystem> systems;          ///< of the most frequent row of collectives
  std::vector<Ring> rings;                  ///< of each unit on the measured number of ranks
  std::vector<LinkModel> links;             ///< of each unit
  std::vector<std::vector<double>> shares;  ///< of each unit: measured / fitted time of its instances
  double between_ranks = 0;                 ///< relative sigma of ranks' means of own time
  double within_ranks = 0;                  ///< relative sigma of steps around them
};

/// What is drawn.
struct Draw {
  std::int64_t ranks = 0;
  double work = 1;           ///< factor of all own time: strong scaling
  bool noise = true;         ///< false: every rank as the typical one
  bool growing_comm = true;  ///< false: transfers as on the measured ranks
};

/// The steps that run the most frequent row of collectives, and how much they vary.
[[nodiscard]] Pool pool_of(const replay::Graph& graph, std::vector<StepSystem> systems, std::int64_t ranks);

/// Lengths of drawn steps, ascending, in ns.
[[nodiscard]] std::vector<std::int64_t> drawn_steps(const Pool& pool, std::int64_t measured_ranks, const Draw& draw,
                                                    std::uint64_t seed);

}  // namespace rankscope::analyzer::scaling
