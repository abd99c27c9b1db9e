// Steps of more ranks than were measured, drawn from the steps of those that were (metrics.md 16.1, 16.3).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scaling/step_system.h"
#include "scaling/transfer_fit.h"

namespace rankscope::analyzer::scaling {

inline constexpr int draws = 500;

/// One measured instance of an operation.
struct Instance {
  std::int64_t bytes = 0;
  double share = 1;  ///< measured / fitted time
};

/// Steps that run the same operations, as far as they can be drawn from.
struct Pool {
  std::vector<StepSystem> systems;
  std::vector<std::string> ops;                  ///< of each operation
  std::vector<Ring> rings;                       ///< of each operation on the measured number of ranks
  std::vector<LinkModel> links;                  ///< of each operation
  std::vector<std::vector<Instance>> instances;  ///< of each operation
  double mean_own_ns = 0;                        ///< own time of a step of a rank
  double between_ranks = 0;                      ///< relative sigma of ranks' means of own time
  double within_ranks = 0;                       ///< relative sigma of steps around them, without spikes
  double spike_chance = 0;                       ///< of a step of a rank
  std::vector<double> spikes;                    ///< by which share of a step they are longer, ascending
  std::map<std::uint32_t, double> of_rank;       ///< mean own time against that of all
};

/// The way between hosts, as the user describes it.
struct Network {
  double alpha_ns = 0;       ///< per hop
  double ns_per_byte = 0;    ///< 1 / bandwidth of a rank
  double share_of_hops = 1;  ///< of a ring of all ranks: the others stay inside a host (metrics.md 16.2)
};

/// What is drawn.
struct Draw {
  std::int64_t ranks = 0;
  double work = 1;                   ///< factor of all own time: strong scaling
  bool noise = true;                 ///< false: every rank as the typical one
  bool growing_comm = true;          ///< false: transfers as on the measured ranks
  std::optional<Network> network{};  ///< between the hosts of these ranks; none: transfers are over the measured links
};

/// How much steps vary and how long their transfers are. `systems` are some, and ring_of() knows all of their
/// operations.
[[nodiscard]] Pool pool_of(const replay::Graph& graph, std::vector<StepSystem> systems, std::int64_t ranks);

/// Lengths of drawn steps, ascending, in ns.
[[nodiscard]] std::vector<std::int64_t> drawn_steps(const Pool& pool, const Draw& draw, std::uint64_t seed);

}  // namespace rankscope::analyzer::scaling
