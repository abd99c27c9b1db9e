#include "exports/perfetto/plan.h"

#include <algorithm>

#include "exports/perfetto/descriptors.h"
#include "exports/shared/nesting.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::perfetto {

Plan::Plan(const Run& run)
    : run_(run),
      zero_ns_(std::min<std::int64_t>(0, ns_of(run.extent().begin))),
      flows_(collective_flows(run)),
      matching_(match_collectives(run, ClockTrust{run})),
      origins_(run),
      rows_(run.lanes().size()),
      instants_(run.lanes().size()) {
  for (const Flow& flow : flows_)
    first_link_flow_ = std::max(first_link_flow_, static_cast<std::uint64_t>(flow.id) + 1);
  collect_instants();
  for (std::uint32_t lane = 0; lane < run.lanes().size(); ++lane) add_rows(lane);
  for (std::uint32_t counter = 0; counter < run.counters().size(); ++counter) {
    tracks_.push_back({.kind = Track::Kind::counter, .of = counter, .events = run.counters()[counter].sample_count});
  }
  // Numbers of tracks follow those of the processes and of their devices.
  std::uint64_t uuid = first_track_uuid(run);
  for (Track& track : tracks_) track.uuid = uuid++;
}

void Plan::add_rows(std::uint32_t lane) {
  const auto spans = run_.spans_of(run_.lanes()[lane]);
  auto rows = nesting_rows(spans);
  const std::uint32_t count = rows.empty() ? 1 : *std::ranges::max_element(rows) + 1;
  std::vector<std::uint64_t> events(count, 0);
  for (const std::uint32_t row : rows) ++events[row];
  events[0] += instants_[lane].size();
  for (std::uint32_t row = 0; row < count; ++row)
    tracks_.push_back({.kind = Track::Kind::row, .of = lane, .row = row, .events = events[row]});
  if (count > 1) rows_[lane] = std::move(rows);
}

void Plan::collect_instants() {
  const auto marks = run_.marks();
  for (std::uint32_t row = 0; row < marks.size(); ++row)
    instants_[marks[row].lane.index()].push_back({.time = marks[row].time, .row = row});
  const auto collectives = run_.collectives();
  for (std::uint32_t row = 0; row < collectives.size(); ++row) {
    const Collective& member = collectives[row];
    if (member.state == CommState::enqueued && member.enqueued_on.is_set())
      instants_[member.enqueued_on.index()].push_back({.time = member.enqueued, .row = row, .is_mark = false});
  }
  for (auto& instants : instants_) std::ranges::stable_sort(instants, {}, &Instant::time);
}

}  // namespace rankscope::analyzer::perfetto
