// How fast data moved, who sent how much to whom, and which paths are slower than their like (metrics.md 6.6
// to 6.8, 9.7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// Operations of similar size: from `from_bytes` on, below `below_bytes`.
struct SizeClass {
  std::int64_t from_bytes = 0;
  std::int64_t below_bytes = 0;  ///< 0: no limit
  auto operator<=>(const SizeClass&) const = default;
};
[[nodiscard]] SizeClass size_class_of(std::int64_t bytes);

/// The speed of one kind of operation among operations of similar size.
struct BandwidthRow {
  std::string group;
  std::string op;
  std::int64_t group_size = 0;
  SizeClass size;
  std::int64_t count = 0;       ///< operations of known size
  std::int64_t measured = 0;    ///< of them, those that tell a speed
  std::int64_t setting_up = 0;  ///< left out: first ones, which set up connections
  std::int64_t too_short = 0;   ///< left out: transfers below 5 us or twice the clock error
  std::optional<double> algbw_gbps;
  std::optional<double> busbw_gbps;
  std::optional<double> busbw_with_waiting_gbps;  ///< what a tool sees that looks at one rank
  std::string why_none;                           ///< set where nothing was measured
};

/// Sends from one rank to another.
struct TrafficCell {
  RankId from;
  RankId to;
  std::int64_t count = 0;
  std::int64_t bytes = 0;  ///< of those whose size was recorded
  std::int64_t without_bytes = 0;
  std::optional<double> gbps;  ///< while moving
};

/// What one rank gave to the network.
struct TrafficMargin {
  RankId rank;
  std::int64_t sent_bytes = 0;
  std::int64_t received_bytes = 0;
  std::int64_t collective_bytes = 0;  ///< count x element size of its parts in collectives: no path is assumed
};

/// A path that is slower than its like.
struct SlowPath {
  /// What is slow: all of a group, or only the operations of one pair, sender or receiver.
  enum class Kind : std::uint8_t { group, link, sender, receiver };
  Kind kind = Kind::group;
  std::string name{};  ///< of the group
  std::string op{};
  std::vector<RankId> ranks{};  ///< link: from, to; else members, or the one sender or receiver
  SizeClass size{};
  double ratio = 1;  ///< of the usual speed
  double gbps = 0;
  double usual_gbps = 0;
  std::size_t compared = 0;  ///< with how many others; 0: with its own time before
  std::optional<std::int64_t> since_step{};
  std::int64_t cost_ns = 0;  ///< per rank: what the transfers took longer, as far as nothing hid them
  double share = 0;          ///< of the time of its ranks
};
[[nodiscard]] std::string_view name_of(SlowPath::Kind kind);

/// How fast data moved between ranks while it moved, and which paths are slower than their like.
struct BandwidthSection {
  std::vector<BandwidthRow> rows;      ///< by group, operation and size
  std::vector<TrafficCell> traffic;    ///< most bytes first
  std::vector<TrafficMargin> margins;  ///< by rank
  std::vector<SlowPath> slow;          ///< what costs most first
};

}  // namespace rankscope::analyzer
