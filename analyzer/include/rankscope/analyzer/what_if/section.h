// What steps would cost if something were fixed, by replay (metrics.md 12).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// One kind of work: how much longer steps are because it is uneven.
struct KindSlowdown {
  std::string kind;  ///< "compute", "comm", "memory", "host", "data"
  double slowdown = 1;
};

/// One operation, or all ranks of a host.
struct NamedSlowdown {
  std::string name;
  double slowdown = 1;
};

/// One rank: how much longer steps are because of it, and what they would take if it were like its peers.
struct RankReplay {
  RankId rank;
  double slowdown = 1;                            ///< S_r of 12.6; only where the ideal is known
  std::optional<std::int64_t> without_rank_ns{};  ///< not set: see why_unknown
  std::string why_unknown{};                      ///< set where nothing shows what a rank like its peers would save
  std::int64_t alone_ns = 0;  ///< of its work per step: what no peer has, beyond what peers have and it lacks
  std::int64_t kept_ns = 0;   ///< of that: what keeps its length in without_rank_ns
  std::vector<std::int64_t> saved_ns{};  ///< of each replayed step by without_rank_ns; empty where that is not set
};

/// Why nothing is predicted of a network that takes no time.
inline constexpr std::string_view transfer_unknown = "it is not known how much of the communication is transfer";

/// Why the replay does not say what a rank costs where WhatIfSection::knows_partners() is false.
inline constexpr std::string_view partners_are_unknown =
    "the partners of more than a tenth of the operations are not known";

/// Mean lengths of a step, in ns; what is predicted is compared with `replayed_ns`, never with `measured_ns`.
struct WhatIfSection {
  std::int64_t steps = 0;        ///< replayed, consecutive
  std::int64_t first_step = 0;   ///< index
  bool whole_recording = false;  ///< no steps are known: all is taken as one
  std::int64_t measured_ns = 0;
  std::int64_t replayed_ns = 0;
  double replay_error = 0;
  std::optional<std::int64_t> ideal_ns{};  ///< without imbalance between peers and steps (12.4)
  std::optional<double> slowdown{};        ///< replayed / ideal
  std::string why_no_ideal{};              ///< set where these are not known, nor any other slowdown
  // Not set: partners_unknown is above its limit.
  std::optional<std::int64_t> ideal_network_ns{};    ///< no transfer takes time
  std::optional<std::int64_t> without_data_ns{};     ///< no rank spends time in its loader
  std::optional<std::int64_t> without_traffic_ns{};  ///< neither copies nor transfers take time
  std::int64_t without_host_delay_ns = 0;
  std::optional<std::int64_t> even_last_stage_ns{};  ///< --fix stage:last; only where there are several stages
  bool any_peers = true;                             ///< some ranks do equal work
  bool several_classes = false;                      ///< some ranks do different work, which the ideal leaves as it is
  std::vector<KindSlowdown> kinds;
  std::vector<NamedSlowdown> operations;  ///< those that are most uneven, the largest slowdown first
  std::vector<NamedSlowdown> hosts;       ///< where there are several; the largest first
  std::vector<RankReplay> ranks;          ///< by rank; with many ranks only those that own most (see ranks_left_out)
  std::int64_t ranks_left_out = 0;
  std::optional<double>
      few_ranks{};       ///< M_W of 12.8: share of the loss that few ranks explain; not set: hardly any loss
  std::int64_t few = 0;  ///< how many these are
  std::optional<double> few_ranks_added{};  ///< loss when only they are as measured, as a share (12.8)
  std::optional<double> last_stage{};       ///< M_S: the same as few_ranks of the ranks of the last pipeline stage
  std::vector<double> step_slowdowns;       ///< of each step (12.9)
  double partners_unknown = 0;              ///< share of the operations that keep their measured end for it
  /// Above that the replay does not say what a rank or the network costs (metrics.md 8.5, 9.5).
  static constexpr double most_partners_unknown = 0.1;
  [[nodiscard]] bool knows_partners() const { return partners_unknown <= most_partners_unknown; }
  std::vector<std::string> doubts;  ///< what the prediction does not know, in sentences
};

/// Why the replay does not say what any change saves; empty if it does.
[[nodiscard]] std::string why_no_replay(const Section<WhatIfSection>& replay);

/// The most that a fix saves per step, or why that is not known.
struct ReplayedGain {
  std::int64_t ns_per_step = 0;
  std::string why_unknown{};  ///< ns_per_step is then 0
};
/// `length` is what steps would take with the fix, such as &WhatIfSection::without_data_ns.
[[nodiscard]] ReplayedGain replayed_gain(const Section<WhatIfSection>& replay,
                                         std::optional<std::int64_t> WhatIfSection::*length);

}  // namespace rankscope::analyzer
