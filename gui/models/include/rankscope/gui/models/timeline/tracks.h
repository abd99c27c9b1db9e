// What stands below what on the timeline: hosts, ranks, and their lanes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rankscope/core/lod/run_lod.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::gui {

/// What a strip stands for; hosts and ranks are the headers of the strips below them.
enum class TrackKind : std::uint8_t {
  host,
  rank,
  steps,
  lane,
  counters,  ///< head of the counters of the host
  counter,
};

/// One strip of the timeline. Heights and places are in pixels that do not depend on the screen.
struct Track {
  TrackKind kind = TrackKind::lane;
  std::string name{};       ///< "stream 7"
  std::string full_name{};  ///< with its rank: "rank 3 / stream 7"
  std::string note{};       ///< of a rank: the models of its accelerators
  StringId host{};
  RankId rank{};                  ///< none: a host, or a process without rank
  std::uint32_t process = 0;      ///< row of Run::processes(); not of a host
  LaneId lane{};                  ///< a lane; of a rank that is folded: what stands for all of it
  LaneId comm_lane{};             ///< of a rank that is folded: its communication, if that is another lane
  std::uint32_t comm_row = 0;     ///< of this lane
  std::uint32_t counter = 0;      ///< row of Run::counters()
  std::uint32_t first_row = 0;    ///< of the lane's rows, the first that is shown
  std::uint32_t rows = 1;         ///< of the lane, that are drawn
  std::uint32_t deeper_rows = 0;  ///< of the lane, that are not: more than 64 never are, fewer if it is folded
  int indent = 0;
  bool folded = false;  ///< of a lane: not all rows are drawn that could be
  bool pinned = false;
  std::size_t others = 0;  ///< of a folded rank that stands for other ranks, too: how many these are
  /// A folded rank draws a row of a lane: the one that stands for it, or that of its communication.
  [[nodiscard]] bool stands_for(LaneId of, std::uint32_t row) const {
    return (of == lane && row == first_row) || (of == comm_lane && comm_lane.is_set() && row == comm_row);
  }
  double y = 0;  ///< pinned ones from the top of the pinned part, the others from the top of all others
  double height = 0;
};

/// What names the track of a host or rank however tracks are made anew.
struct Header {
  TrackKind kind = TrackKind::rank;
  StringId host{};            ///< of a host
  std::uint32_t process = 0;  ///< of a rank
  bool operator==(const Header&) const = default;
};
/// Nothing for tracks that have nothing to fold.
[[nodiscard]] std::optional<Header> header_of(const Track& track);

/// How many rows of a lane the user wants; where nothing was chosen, threads beside an accelerator have a few.
enum class LaneRows : std::uint8_t { one, all };

/// How the user wants it.
struct TrackOptions {
  std::set<StringId> folded_hosts{};
  std::set<std::uint32_t> folded_processes{};
  std::map<LaneId, LaneRows> lane_rows{};
  std::set<std::uint32_t> unfolded_counters{};  ///< rows of processes whose counters of the host are shown
  std::set<LaneId> hidden_lanes{};
  std::set<std::uint32_t> hidden_counters{};             ///< rows of Run::counters()
  std::map<std::uint32_t, std::vector<LaneId>> order{};  ///< of lanes, by process; others follow
  std::string lanes{};  ///< only lanes and counters that have it in their names, in any case; empty = all
  std::vector<LaneId> pinned{};
  std::vector<std::uint32_t> pinned_counters{};
  std::vector<RankId> ranks{};        ///< only these; empty = all
  std::vector<RankId> first_ranks{};  ///< stand above all others
  bool joins_others = false;          ///< all other ranks are one folded row, if some stand above them
  double row_height = 16;

  /// A rank is in this one row.
  [[nodiscard]] bool joins(RankId rank) const;
};

/// All strips with their places, made anew when something is folded, pinned or filtered.
struct TrackList {
  std::vector<Track> tracks;  ///< pinned ones first, then from top to bottom
  double pinned_height = 0;
  double height = 0;  ///< of all that are not pinned

  /// The track at a place below the top of its part; null between and behind tracks.
  enum class Part : std::uint8_t { pinned, scrolled };
  [[nodiscard]] const Track* at(Part part, double y) const;
  /// Those of a part that touch [top, bottom), from top to bottom. Each frame asks for them: it looks at few others.
  [[nodiscard]] std::span<const Track> between(Part part, double top, double bottom) const;
  /// The one that shows a span: its lane, else its folded rank. A pinned one only if there is no other.
  [[nodiscard]] const Track* of_lane(LaneId lane, const Run& run) const;
  /// The one that draws a row of a lane; null where none does. A pinned one only if there is no other.
  [[nodiscard]] const Track* drawing(LaneId lane, std::uint32_t row) const;
  [[nodiscard]] const Track* of_rank(RankId rank) const;
  /// Null where it is folded away or filtered out.
  [[nodiscard]] const Track* of_header(const Header& header) const;
};

/// Under a rank with an accelerator its streams come first, then threads. Ranks come by host in the order of their
/// first rank; processes without rank are last.
[[nodiscard]] TrackList make_tracks(const lod::RunLod& lod, const TrackOptions& options);

}  // namespace rankscope::gui
