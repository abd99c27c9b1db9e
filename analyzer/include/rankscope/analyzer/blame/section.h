// Who made others wait, and with what (metrics.md 10).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// What a rank did while others waited for it.
enum class DelayPart : std::uint8_t {
  compute,
  host,       ///< nothing ran, for any cause but data
  data,       ///< it waited for its loader
  memory,     ///< copies
  network,    ///< its own transfers, or a collective that it began late
  unmatched,  ///< communication of which nobody knows whether it waited or moved data
  unexplained,
};
inline constexpr std::size_t delay_part_count = 7;
[[nodiscard]] std::string_view name_of(DelayPart part);

using DelayParts = std::array<std::int64_t, delay_part_count>;

/// What one rank cost the others, in rank ns.
struct BlameRow {
  RankId rank;
  DelayParts direct_ns{};        ///< of waits for this rank itself (short-term)
  DelayParts inherited_ns{};     ///< of waits for ranks that were late because they had waited for this one (long-term)
  std::int64_t waited_ns = 0;    ///< what it waited itself
  std::int64_t marginal_ns = 0;  ///< by how much it came later than the next, summed over the operations
  std::int64_t times_last = 0;   ///< operations in which others waited for it, and that is a fact
  std::int64_t longest_ns = 0;   ///< part of its cost: of the one of these that cost most

  [[nodiscard]] std::int64_t of(DelayPart part) const {
    return direct_ns[static_cast<std::size_t>(part)] + inherited_ns[static_cast<std::size_t>(part)];
  }
  [[nodiscard]] std::int64_t direct() const;
  [[nodiscard]] std::int64_t cost_ns() const;
  [[nodiscard]] DelayPart largest_part() const;
};

/// `waiting` stood in operations that could not begin before `last_to_arrive` came: its last arriver, root or partner.
struct WaitingPair {
  RankId waiting;
  RankId last_to_arrive;
  std::int64_t ns = 0;
};

/// The waits in one kind of operation of one group.
struct BlameGroup {
  GroupId id;
  std::string group;  ///< its name; several groups may share one
  std::string op;
  std::int64_t count = 0;  ///< operations that made somebody wait
  std::int64_t ns = 0;
  std::int64_t with_slack_ns = 0;  ///< of ns: see BlameSection::with_slack_ns
  RankId most_waited_for{};        ///< none where no rank is known
  std::int64_t most_waited_for_ns = 0;
};

/// For whom ranks waited: every exposed wait is charged to a rank, or counted as unknown.
struct BlameSection {
  std::int64_t total_ns = 0;    ///< exposed waits in complete operations; costs of all rows + unknown_ns
  std::int64_t unknown_ns = 0;  ///< of it: too short for the clocks to tell who was later
  std::int64_t partial_ns =
      0;                       ///< beside it: in operations of which a rank was not recorded, which may have been later
  std::int64_t window_ns = 0;  ///< counted time of the ranks that could wait
  std::int64_t rank_steps = 0;     ///< 0: the whole recording
  std::int64_t ranks = 0;          ///< that could wait: those asked for
  std::vector<BlameRow> rows;      ///< of all ranks that cost or waited, the most expensive first
  std::vector<BlameGroup> groups;  ///< the longest waits first; they add up to total_ns
  std::vector<WaitingPair> pairs;  ///< the longest first; they and pairs_unknown_ns add up to total_ns
  std::int64_t pairs_unknown_ns = 0;
  std::string method;  ///< "run time", "duration" (6.9), or "run time and duration"
  /// Of total_ns: in operations that could all have ended later by 1 % of the step without making it longer (10.4).
  Section<std::int64_t> with_slack_ns = unavailable("not computed");
};

}  // namespace rankscope::analyzer
