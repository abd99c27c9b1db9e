// Every way to move through a run, without a window.
#pragma once

#include <QObject>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/time.h"
#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/base/time_scale.h"
#include "rankscope/gui/models/timeline/hit_times.h"
#include "rankscope/gui/models/timeline/neighbours.h"
#include "rankscope/gui/models/timeline/timeline_model.h"

namespace rankscope::gui {

/// Like the pages of a browser: what is left is remembered, and a new way drops what was ahead.
class RangeHistory {
 public:
  /// Call before leaving `from`. Successive moves of one kind, such as turns of a wheel, are one; an empty kind is
  /// always a move of its own.
  void leave(TimeRange from, std::string_view kind);
  [[nodiscard]] std::optional<TimeRange> back(TimeRange from);
  [[nodiscard]] std::optional<TimeRange> forward(TimeRange from);
  void clear();

 private:
  static constexpr std::size_t most = 200;
  std::vector<TimeRange> behind_;
  std::vector<TimeRange> ahead_;
  std::string_view kind_;  // of the last move; texts of the program itself
};

/// A stretch of time that the user wants to find again.
struct TimeMark {
  TimeRange time;
  bool kept = false;  ///< else the next mark takes its place
  std::string note{};
  bool operator==(const TimeMark&) const = default;
};

/// Acts on the session only. What cannot be done, such as going behind the last span, is only said.
class Navigator : public QObject {
  Q_OBJECT

 public:
  Navigator(Session& session, const TimelineModel& model, QObject* parent = nullptr);

  /// Pixels of the whole visible range.
  void set_width(double pixels) { width_ = pixels > 1 ? pixels : 1; }
  [[nodiscard]] TimeScale scale() const { return {.time = session_.visible(), .left = 0, .width = width_}; }

  void zoom(double factor, double x);  ///< below 1: in; what is at pixel x stays
  void pan(double pixels);             ///< positive: to later times
  void show(TimeRange range);
  /// As much as now, with `middle` in the middle as far as the run reaches.
  void centre(RunTime middle);
  void fit_all() { show(session_.extent()); }
  /// Brings the selection to the middle; shows all of it if it is there already.
  void focus_selection();
  /// The selected stretch of time, else that of the selected span, fills the view.
  void zoom_to_selection();
  void back();
  void forward();

  void next_event(Direction direction);
  void next_same_name(Direction direction);
  void next_rank(Direction direction);
  void next_collective(Direction direction);
  void next_step(Direction direction);
  void next_finding(Direction direction);
  void next_match(Direction direction);  ///< of the selected event, else the first or last one in sight
  /// What caused the selected span, or what it caused; members of a collective follow one another.
  void follow_flow(Direction direction);

  /// The step of the selected event, else the one in the middle of the view, as a range on all lanes of its rank.
  void select_step();
  void select_all();  ///< of the ranks that are not filtered out
  void clear();       ///< what is selected; else the finding; else what is searched for
  void mark_selection(bool keep);
  void remove_mark();  ///< the one made last
  /// Marks the selection and keeps it, or takes the mark that is there; where nothing is selected, the one made last.
  void note(std::string text);
  /// What note() would replace; nothing if it would do nothing.
  [[nodiscard]] std::optional<std::string> note_here() const;
  void set_marks(std::vector<TimeMark> marks);
  void next_mark(Direction direction);
  void go_to_mark(std::size_t place);  ///< in marks()
  /// Brings the step whose critical path is drawn into view, if nothing of it is there. Of the ranks that are shown,
  /// the one that it is on longest; nothing, and said, if it is on none of them or not known.
  std::optional<RankId> show_critical_path();
  [[nodiscard]] const std::vector<TimeMark>& marks() const { return marks_; }
  /// Names that contain the filter's text in any case, by StringId; null: there is no text, all are lit.
  [[nodiscard]] const std::shared_ptr<const std::vector<bool>>& lit() const { return lit_; }
  /// When the events start whose names are lit; null until that is known, and where there is no text.
  [[nodiscard]] const std::shared_ptr<const HitTimes>& hits() const { return hits_; }
  /// The time of the selected area, else of the selected span.
  [[nodiscard]] std::optional<TimeRange> selected_time() const;

 Q_SIGNALS:
  void marksChanged();
  void litChanged();
  void said(const QString& sentence);  ///< what is missing for a command, or where it went

 private:
  void move_to(TimeRange range, std::string_view kind);
  /// Says `nothing` where there is no span.
  void go(std::optional<SpanId> span, const QString& nothing);
  /// False, and said, if no event is selected.
  [[nodiscard]] bool has_event();
  [[nodiscard]] bool has_run();
  void show_mark(const TimeMark& mark);
  void find_lit();
  void find_hits();
  [[nodiscard]] std::optional<std::size_t> mark_here() const;
  [[nodiscard]] RunTime here() const;
  [[nodiscard]] RankId rank_here() const;
  [[nodiscard]] const Facts* facts() const { return model_.facts().get(); }

  Session& session_;
  const TimelineModel& model_;
  double width_ = 1;
  RangeHistory history_;
  std::vector<TimeMark> marks_;
  std::shared_ptr<const std::vector<bool>> lit_;
  std::shared_ptr<const HitTimes> hits_;
  /// The middle of the mark that was gone to last, and what was in sight then.
  struct MarkPlace {
    RunTime middle;
    TimeRange visible;
  };
  std::optional<MarkPlace> mark_place_;  // where the next mark is counted from as long as that is visible
  LatestJob hits_job_;
};

}  // namespace rankscope::gui
