// A copy of a run with a track that was computed from it.
#include "run_builder_pending.h"

namespace rankscope {

std::shared_ptr<const Run> RunBuilder::with_track(const Run& run, const NewTrack& track) {
  const std::shared_ptr<Run> copy{Pending::copy_of(run)};
  const auto intern = [&](std::string_view text) { return copy->strings_.intern(text); };
  Process process{.pid = Process::no_pid, .host = intern(""), .program = intern(track.process)};
  if (!track.spans.empty()) process.recorded = {track.spans.front().time.begin, track.spans.back().time.end};
  Lane lane{.process = static_cast<std::uint32_t>(copy->processes_.size()), .name = intern(track.lane)};
  lane.first_span = static_cast<std::uint32_t>(copy->spans_.size());
  lane.span_count = static_cast<std::uint32_t>(track.spans.size());
  const LaneId id{static_cast<std::uint32_t>(copy->lanes_.size())};
  copy->span_attributes_.resize(copy->spans_.size(), AttributeStore::nowhere);
  for (const TrackSpan& from : track.spans) {
    std::vector<Attribute> attributes;
    for (const auto& [key, value] : from.attributes) attributes.push_back({intern(key), intern(value)});
    copy->spans_.push_back({.time = from.time, .name = intern(from.name), .lane = id});
    copy->span_attributes_.push_back(copy->attributes_.add(AttributeStore::nowhere, attributes));
  }
  copy->processes_.push_back(std::move(process));
  copy->lanes_.push_back(lane);
  Pending::measure(*copy);
  return copy;
}

}  // namespace rankscope
