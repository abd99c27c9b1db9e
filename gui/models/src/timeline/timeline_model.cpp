#include "rankscope/gui/models/timeline/timeline_model.h"

#include <algorithm>
#include <utility>

#include "rankscope/analyzer/blame/closer_look.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::gui {
namespace {

constexpr std::size_t most_unfolded = 16;  // more ranks than that begin folded
constexpr std::size_t most_apart = 64;     // of more ranks than that, those without findings begin as one row

WaitEnds wait_ends_of(const Run& run, const analyzer::CloserLook& look) {
  WaitEnds ends;
  ends.reserve(run.collectives().size());
  for (std::uint32_t row = 0; row < run.collectives().size(); ++row) {
    const auto wait = look.wait_of(row);
    ends.push_back(run.collectives()[row].started + nanoseconds{wait ? wait->wait_ns : 0});
  }
  return ends;
}

/// Those of a process that is not folded, from top to bottom.
std::vector<LaneId> lanes_of(const TrackList& list, std::uint32_t process) {
  std::vector<LaneId> lanes;
  for (const Track& track : list.tracks)
    if (track.kind == TrackKind::lane && !track.pinned && track.process == process) lanes.push_back(track.lane);
  return lanes;
}

}  // namespace

TimelineModel::TimelineModel(Session& session, QObject* parent)
    : QObject(parent), session_(session), looks_(CloserLooks::of(session)) {
  connect(&session, &Session::runOpened, this, [this] {
    options_ = {.row_height = options_.row_height};
    folds_chosen_ = false;
    job_.cancel();
    facts_.reset();
    tracks_ = {};
    Q_EMIT factsChanged();
    Q_EMIT tracksChanged();
  });
  connect(&session, &Session::runChanged, this, &TimelineModel::start_build);
  connect(&session, &Session::reportChanged, this, [this] {
    take_report();
    if (facts_ == nullptr) return;
    choose_first_ranks();
    rebuild_tracks();
  });
  connect(&looks_, &CloserLooks::changed, this, [this] {
    if (facts_ != nullptr && facts_->run == session_.run()) take_report();  // else a level of detail is on its way
  });
  const auto rebuild = [this] {
    options_.pinned = session_.pinned();
    options_.pinned_counters = session_.pinned_counters();
    options_.ranks = session_.filter().ranks;
    rebuild_tracks();
  };
  connect(&session, &Session::pinsChanged, this, rebuild);
  connect(&session, &Session::filterChanged, this, rebuild);
  if (session.run() != nullptr) start_build();
}

void TimelineModel::start_build() {
  job_.start([this, run = session_.run()](const std::stop_token& stop) -> LatestJob::Delivery {
    const auto lod = lod::RunLod::build(run, stop);
    if (lod == nullptr) return {};
    const auto names = std::make_shared<const NamePlaces>(*run, placed_names, stop);
    if (stop.stop_requested()) return {};
    return [this, lod, names] { take_lod(lod, names); };
  });
}

void TimelineModel::take_lod(std::shared_ptr<const lod::RunLod> lod, std::shared_ptr<const NamePlaces> name_places) {
  facts_ = std::make_shared<const Facts>(
      Facts{.run = session_.run(), .lod = std::move(lod), .name_places = std::move(name_places)});
  take_report();
  if (!std::exchange(folds_chosen_, true)) choose_folds();
  choose_first_ranks();
  rebuild_tracks();
}

void TimelineModel::choose_first_ranks() {
  constexpr std::size_t most_first = 8;
  const auto& report = facts_->report;
  options_.first_ranks.clear();
  if (facts_->run->processes().size() <= most_unfolded || report == nullptr || !report->findings) return;
  for (const analyzer::Finding& finding : *report->findings) {
    if (!finding.rank || options_.first_ranks.size() == most_first) continue;
    if (std::ranges::find(options_.first_ranks, *finding.rank) == options_.first_ranks.end())
      options_.first_ranks.push_back(*finding.rank);
  }
}

void TimelineModel::take_report() {
  if (facts_ == nullptr) return;
  auto facts = std::make_shared<Facts>(*facts_);
  facts->report = session_.report();
  // The rows of collectives may be others in the run that the report is about: its level of detail is then on its way.
  const bool fits = facts->report != nullptr && facts->run == session_.run();
  facts->report_fits = fits;
  facts->waits_known = fits && looks_.look() != nullptr;
  facts->look = facts->waits_known ? looks_.look() : nullptr;
  facts->wait_ends = facts->waits_known ? wait_ends_of(*facts->run, *facts->look) : WaitEnds{};
  facts->lateness = fits ? lateness_of(*facts->report) : Lateness{};
  facts_ = std::move(facts);
  Q_EMIT factsChanged();
}

void TimelineModel::choose_folds() {
  options_.pinned = session_.pinned();
  options_.pinned_counters = session_.pinned_counters();
  options_.ranks = session_.filter().ranks;
  const auto processes = facts_->run->processes();
  const std::size_t shown = options_.ranks.empty() ? processes.size() : options_.ranks.size();
  options_.joins_others = shown > most_apart;
  for (std::uint32_t row = 0; row < processes.size() && shown > most_unfolded; ++row)
    options_.folded_processes.insert(row);
}

void TimelineModel::rebuild_tracks() {
  tracks_ = facts_ == nullptr ? TrackList{} : make_tracks(*facts_->lod, options_);
  Q_EMIT tracksChanged();
}

void TimelineModel::set_row_height(double pixels) {
  options_.row_height = std::clamp(pixels, 4.0, 60.0);
  rebuild_tracks();
}

void TimelineModel::toggle_fold(const Track& track) {
  const auto toggle = [](auto& folded, auto key) {
    if (folded.erase(key) == 0) folded.insert(key);
  };
  if (track.kind == TrackKind::host) toggle(options_.folded_hosts, track.host);
  if (track.kind == TrackKind::rank && track.others > 0)
    options_.joins_others = false;
  else if (track.kind == TrackKind::rank)
    toggle(options_.folded_processes, track.process);
  if (track.kind == TrackKind::counters) toggle(options_.unfolded_counters, track.process);
  if (track.kind == TrackKind::lane) options_.lane_rows[track.lane] = track.folded ? LaneRows::all : LaneRows::one;
  rebuild_tracks();
}

void TimelineModel::show_row(LaneId lane, std::uint32_t row) {
  if (facts_ == nullptr || tracks_.drawing(lane, row) != nullptr) return;
  const Track* const track = tracks_.of_lane(lane, *facts_->run);
  if (track == nullptr) {
    const bool was_hidden = options_.hidden_lanes.erase(lane) > 0;
    const bool was_joined = options_.joins(facts_->run->lane(lane).rank);
    if (was_joined) options_.joins_others = false;
    if (!was_hidden && !was_joined) return;
    rebuild_tracks();
    return show_row(lane, row);
  }
  if (track->kind != TrackKind::lane || !track->folded) return;
  options_.lane_rows[lane] = LaneRows::all;
  rebuild_tracks();
}

void TimelineModel::hide(const Track& track) {
  if (track.kind == TrackKind::lane) options_.hidden_lanes.insert(track.lane);
  if (track.kind == TrackKind::counter) options_.hidden_counters.insert(track.counter);
  rebuild_tracks();
}

void TimelineModel::show_hidden() {
  options_.hidden_lanes.clear();
  options_.hidden_counters.clear();
  rebuild_tracks();
}

/// Lanes that are not shown keep their places.
void TimelineModel::move_lane(const Track& track, Side side) {
  if (facts_ == nullptr) return;
  const std::vector<LaneId> shown = lanes_of(tracks_, track.process);
  const auto at = std::ranges::find(shown, track.lane);
  if (at == shown.end() || (side == Side::above ? at == shown.begin() : at + 1 == shown.end())) return;
  TrackOptions options = options_;
  options.hidden_lanes.clear();
  options.lanes.clear();
  std::vector<LaneId> all = lanes_of(make_tracks(*facts_->lod, options), track.process);
  std::iter_swap(std::ranges::find(all, *at), std::ranges::find(all, *(side == Side::above ? at - 1 : at + 1)));
  options_.order[track.process] = std::move(all);
  rebuild_tracks();
}

void TimelineModel::choose_lanes(std::string text) {
  if (options_.lanes == text) return;
  options_.lanes = std::move(text);
  rebuild_tracks();
}

void TimelineModel::fold_all(bool fold) {
  options_.folded_hosts.clear();
  options_.folded_processes.clear();
  if (facts_ == nullptr) return;
  options_.joins_others = fold && facts_->run->processes().size() > most_apart;
  for (std::uint32_t row = 0; fold && row < facts_->run->processes().size(); ++row)
    options_.folded_processes.insert(row);
  rebuild_tracks();
}

void TimelineModel::unfold(RankId rank) {
  if (facts_ == nullptr) return;
  const auto processes = facts_->run->processes();
  for (std::uint32_t row = 0; row < processes.size(); ++row) {
    if (processes[row].rank != rank) continue;
    if (options_.joins(rank)) options_.joins_others = false;
    options_.folded_hosts.erase(processes[row].host);
    options_.folded_processes.erase(row);
  }
  rebuild_tracks();
}

std::string TimelineModel::spoken(const Track& track) const {
  std::string text = track.full_name;
  if (track.deeper_rows > 0) text += format(", {} not drawn", counted(track.deeper_rows, "deeper row"));
  if (track.kind == TrackKind::counters && track.folded) text += ", folded";
  if (!header_of(track)) return text;
  if (!track.note.empty()) text += format(", {}", track.note);
  if (track.folded) text += ", folded";
  if (track.kind != TrackKind::rank || track.others > 0 || facts_ == nullptr) return text;
  if (const auto late = facts_->lateness.mean_share(track.rank))
    text += format(", {:+.1f} % of a step relative to the median rank", static_cast<double>(*late) * 100);
  return text;
}

}  // namespace rankscope::gui
