// What one rank did at each instant, as sets of time (metrics.md 0 "CPU rank", 2).
#pragma once

#include <array>
#include <span>

#include "collectives/find.h"
#include "math/interval_set.h"
#include "split/device_idle.h"

namespace rankscope::analyzer {

/// The sets from which a time split is made. Communication is the union of transfer, wait, unsplit and host_wait.
enum class Layer : std::uint8_t {
  compute,
  transfer,  ///< parts of collectives (6.1)
  wait,
  unsplit,    ///< communication that was not matched
  host_wait,  ///< the host is blocked until a collective has finished
  memory,
  data,  ///< the main thread waits for its loader
  sync,
  for_others,   ///< part of sync: a barrier or store wait
  own_delay,    ///< this rank has enqueued a collective, its lane is free, and it has not started yet
  kernel_gap,   ///< accelerator: gaps of at most 10 us between activities
  host_late,    ///< accelerator: nothing was launched in time
  own_in_comm,  ///< communication during which nothing blocks the host: on an accelerator, it has not yet launched what
                ///< follows; on a CPU rank, a send or receive is under way
  accelerator,  ///< everything, on a rank with an accelerator: its idle time has other causes
};
inline constexpr std::size_t layer_count = 14;
static_assert(layer_count <= Sweep::max_sets);

using Layers = std::array<IntervalSet, layer_count>;

struct RankLayers {
  Layers layers;
  std::vector<IdleStretch> idle;  ///< of an accelerator: why nothing ran
};

/// What the streams of an accelerator do for communication.
inline constexpr std::array communication_layers{Layer::transfer, Layer::wait, Layer::unsplit};
[[nodiscard]] IntervalSet union_of(const Layers& layers, std::span<const Layer> chosen);

/// What the layers of communication are made of, by begin.
[[nodiscard]] std::vector<const Span*> communication_of(const Run& run, RankId rank);
/// Without the reasons for which nothing ran.
[[nodiscard]] Layers busy_layers(const Run& run, RankId rank, const Matching& matching);
[[nodiscard]] RankLayers layers_of(const Run& run, RankId rank, const Matching& matching);
/// True if anything was recorded that tells what the rank did.
[[nodiscard]] bool is_classified(const Layers& layers);
/// The thread with the step marks, else the one with most spans; nothing if the rank has no host thread.
[[nodiscard]] std::optional<LaneId> main_lane(const Run& run, RankId rank);

}  // namespace rankscope::analyzer
