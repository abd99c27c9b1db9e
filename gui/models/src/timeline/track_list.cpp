// Which track is where, and which one shows what.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/timeline/tracks.h"

namespace rankscope::gui {

bool TrackOptions::joins(RankId rank) const {
  return joins_others && !first_ranks.empty() && ranks.empty() && rank.is_set() &&
         std::ranges::find(first_ranks, rank) == first_ranks.end();
}

const Track* TrackList::at(Part part, double y) const {
  const auto here = between(part, y, std::nextafter(y, std::numeric_limits<double>::max()));
  return here.empty() ? nullptr : &here.front();
}

std::span<const Track> TrackList::between(Part part, double top, double bottom) const {
  const auto is_pinned = [](const Track& track) { return track.pinned; };
  const auto is_above = [top](const Track& track) { return track.y + track.height <= top; };
  const auto begins_in_time = [bottom](const Track& track) { return track.y < bottom; };
  const auto behind = std::ranges::partition_point(tracks, is_pinned);
  const auto first = part == Part::pinned ? std::partition_point(tracks.begin(), behind, is_above)
                                          : std::partition_point(behind, tracks.end(), is_above);
  const auto last = std::partition_point(first, part == Part::pinned ? behind : tracks.end(), begins_in_time);
  return {first, last};
}

const Track* TrackList::of_lane(LaneId lane, const Run& run) const {
  const Track* found = nullptr;
  for (const Track& track : tracks) {
    const bool folded = track.kind == TrackKind::rank && track.folded && track.process == run.lane(lane).process;
    if ((track.kind == TrackKind::lane && track.lane == lane) || folded)
      if (found == nullptr || found->pinned) found = &track;
  }
  return found;
}

const Track* TrackList::drawing(LaneId lane, std::uint32_t row) const {
  const Track* found = nullptr;
  for (const Track& track : tracks) {
    const bool draws =
        track.kind == TrackKind::rank ? track.stands_for(lane, row) : track.lane == lane && row < track.rows;
    if (draws && (found == nullptr || found->pinned)) found = &track;
  }
  return found;
}

const Track* TrackList::of_rank(RankId rank) const {
  const auto found = std::ranges::find_if(
      tracks, [rank](const Track& track) { return track.kind == TrackKind::rank && track.rank == rank; });
  return found == tracks.end() ? nullptr : &*found;
}

std::optional<Header> header_of(const Track& track) {
  if (track.kind == TrackKind::host) return Header{.kind = track.kind, .host = track.host};
  if (track.kind == TrackKind::rank) return Header{.kind = track.kind, .process = track.process};
  return std::nullopt;
}

const Track* TrackList::of_header(const Header& header) const {
  const auto found = std::ranges::find_if(tracks, [&](const Track& track) { return header_of(track) == header; });
  return found == tracks.end() ? nullptr : &*found;
}

}  // namespace rankscope::gui
