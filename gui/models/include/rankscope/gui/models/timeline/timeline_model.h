// What the timeline draws: tracks, level of detail, waits and lateness, kept up to date with a session.
#pragma once

#include <QObject>
#include <memory>
#include <optional>
#include <vector>

#include "rankscope/core/lod/run_lod.h"
#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/base/name_places.h"
#include "rankscope/gui/models/report/lateness.h"
#include "rankscope/gui/models/session/closer_looks.h"
#include "rankscope/gui/models/session/session.h"
#include "rankscope/gui/models/timeline/tracks.h"

namespace rankscope::gui {

/// Of each row of Run::collectives(): until when the rank waited there for others (metrics.md 6.1, 6.9); where that is
/// not known or it did not wait, its own start.
using WaitEnds = std::vector<RunTime>;

/// What follows from a run and its report alone; shared with whoever paints.
struct Facts {
  std::shared_ptr<const Run> run;
  std::shared_ptr<const lod::RunLod> lod;
  std::shared_ptr<const NamePlaces> name_places{};     ///< for colours by name; may be null
  std::shared_ptr<const analyzer::Report> report{};    ///< null until it is made
  bool report_fits = false;                            ///< its rows of collectives are those of `run`
  bool waits_known = false;                            ///< the report fits and there is a closer look
  std::shared_ptr<const analyzer::CloserLook> look{};  ///< null until waits are known
  WaitEnds wait_ends{};                                ///< empty until waits are known
  Lateness lateness{};
};

/// The session outlives it. The level of detail is built on a worker; until then there are no tracks.
class TimelineModel : public QObject {
  Q_OBJECT

 public:
  static constexpr std::size_t placed_names = 12;  ///< as many as there are colours by name

  explicit TimelineModel(Session& session, QObject* parent = nullptr);

  /// Null until there is something to show.
  [[nodiscard]] const std::shared_ptr<const Facts>& facts() const { return facts_; }
  [[nodiscard]] const TrackList& tracks() const { return tracks_; }
  [[nodiscard]] double row_height() const { return options_.row_height; }
  void set_row_height(double pixels);
  /// Folds or unfolds a host, a rank, the counters of its host, or a lane of several rows; other tracks stay.
  void toggle_fold(const Track& track);
  /// Unfolds a lane if only that hides a row of it; a lane that was hidden is shown again.
  void show_row(LaneId lane, std::uint32_t row);
  /// A lane or counter; others stay.
  void hide(const Track& track);
  [[nodiscard]] std::size_t hidden_count() const {
    return options_.hidden_lanes.size() + options_.hidden_counters.size();
  }
  void show_hidden();
  /// Changes places with the lane that is shown above or below it on its rank, if there is one.
  enum class Side : std::uint8_t { above, below };
  void move_lane(const Track& track, Side side);
  /// Only lanes and counters with this in their names; empty: all.
  void choose_lanes(std::string text);
  [[nodiscard]] const std::string& chosen_lanes() const { return options_.lanes; }
  void fold_all(bool fold);
  /// Unfolds what hides the rows of a rank.
  void unfold(RankId rank);
  /// What a screen reader says of a track: its full name, what of it is not drawn, and for ranks how late they are.
  [[nodiscard]] std::string spoken(const Track& track) const;

 Q_SIGNALS:
  void factsChanged();
  void tracksChanged();

 private:
  void start_build();
  void take_lod(std::shared_ptr<const lod::RunLod> lod, std::shared_ptr<const NamePlaces> name_places);
  void take_report();
  void choose_folds();
  /// Of many ranks, those with findings stand first.
  void choose_first_ranks();
  void rebuild_tracks();

  Session& session_;
  CloserLooks& looks_;
  std::shared_ptr<const Facts> facts_;
  TrackOptions options_;
  TrackList tracks_;
  bool folds_chosen_ = false;
  LatestJob job_;
};

}  // namespace rankscope::gui
