// What the viewer shows at the moment. Timeline and panels know this, not each other.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/core/model/run_parts.h"
#include "rankscope/gui/models/session/loader.h"

namespace rankscope::analyzer {
struct Report;
}  // namespace rankscope::analyzer

namespace rankscope::gui {

/// What is looked at, beside or in place of one span: a stretch of time on some lanes.
struct Area {
  TimeRange time;
  std::vector<LaneId> lanes;  ///< ascending; of Run::lanes()
  bool operator==(const Area&) const = default;
};

/// What is left out or lit up.
struct Filter {
  std::vector<RankId> ranks{};  ///< only these are shown; empty = all
  std::string text{};           ///< spans with it in their name are lit, all others dimmed; empty = none is dimmed
  bool operator==(const Filter&) const = default;
};

/// How far the run is that is being opened; the one before stays until this one was read.
enum class LoadState : std::uint8_t { nothing, reading, analyzing, ready };

/// The run, its report, and what the user looks at. Lives in the GUI thread. Signals come after the change, and only if
/// there is one. Ids of spans and lanes stay valid until the next `runOpened`.
class Session : public QObject {
  Q_OBJECT

 public:
  explicit Session(QObject* parent = nullptr);

  /// Reads in the background; what is shown stays until that succeeds. A file of a recording stands for all of it.
  void open(Source source);
  /// Shows what is in memory already and analyzes it in the background.
  void show(std::shared_ptr<const Run> run);
  /// Ends reading or analyzing; what is shown stays. The report that reading was in the way of is made then.
  void cancel();
  /// Ends all work for good: the window closes.
  void stop();
  [[nodiscard]] LoadState state() const { return state_; }
  [[nodiscard]] const Source& source() const { return source_; }

  /// In run time as soon as there is a report, before that as it was recorded; null: nothing is open.
  [[nodiscard]] const std::shared_ptr<const Run>& run() const { return run_; }
  /// As it was recorded, each process by its own clock; null: nothing is open.
  [[nodiscard]] const std::shared_ptr<const Run>& recorded() const { return recorded_; }
  /// Null until it is made.
  [[nodiscard]] const std::shared_ptr<const analyzer::Report>& report() const { return report_; }
  /// Where there is no report: why, in a sentence; `nothing_open` where there is no run either.
  [[nodiscard]] QString why_no_report(const QString& nothing_open) const;

  [[nodiscard]] std::optional<SpanId> selection() const { return selection_; }
  void select(std::optional<SpanId> span);
  /// Row of the report's findings that was gone to last.
  [[nodiscard]] std::optional<std::size_t> finding() const { return finding_; }
  /// It is what is looked at, in place of an event or an area.
  void select_finding(std::size_t row);
  void clear_finding();
  [[nodiscard]] const std::optional<Area>& area() const { return area_; }
  void select_area(std::optional<Area> area);

  /// Never empty; within [extent, a little around it].
  [[nodiscard]] TimeRange visible() const { return visible_; }
  void set_visible(TimeRange range);
  /// All of the run; 1 s where nothing is open.
  [[nodiscard]] TimeRange extent() const;
  void fit_all() { set_visible(extent()); }
  /// How far out of the run visible ranges may reach, where that is more than usual: beside a longer run.
  void set_room(nanoseconds room) { room_ = room; }

  /// In the order in which they were pinned.
  [[nodiscard]] const std::vector<LaneId>& pinned() const { return pinned_; }
  void toggle_pin(LaneId lane);
  /// The same of rows of Run::counters().
  [[nodiscard]] const std::vector<std::uint32_t>& pinned_counters() const { return pinned_counters_; }
  void toggle_counter_pin(std::uint32_t counter);

  [[nodiscard]] const Filter& filter() const { return filter_; }
  void set_filter(Filter filter);

  /// Shows a time and, if one is given, brings a rank's rows into view.
  void go_to(TimeRange time, std::optional<RankId> rank);
  /// Selects a span, and no area any more, and brings it into view; the zoom stays unless the span is not to be seen in
  /// it.
  void go_to(SpanId span);

 Q_SIGNALS:
  void stateChanged();
  void progressed(double share);        ///< of reading, 0..1
  void failed(const QString& message);  ///< a sentence that says what to do
  void runOpened();                     ///< another run: all ids are new. `runChanged` follows
  void runChanged();                    ///< other times, the same rows (or after runOpened)
  void reportChanged();                 ///< made, or gone
  void selectionChanged();
  void findingChanged();
  void areaChanged();
  void visibleRangeChanged();
  void pinsChanged();
  void filterChanged();
  void revealRequested(rankscope::RankId rank);
  void spanRevealRequested(rankscope::SpanId span);

 private:
  void take_run(std::shared_ptr<const Run> run);
  void take_report(std::shared_ptr<const analyzer::Report> report);
  void take_failure(const Error& error);
  /// To what was shown before; its report is made if it has none.
  void fall_back();
  void set_state(LoadState state);

  LoadState state_ = LoadState::nothing;
  Source source_;
  Source opening_;
  std::shared_ptr<const Run> run_;
  std::shared_ptr<const Run> recorded_;
  std::shared_ptr<const analyzer::Report> report_;
  std::optional<SpanId> selection_;
  std::optional<std::size_t> finding_;
  std::optional<Area> area_;
  TimeRange visible_{at(0), at(1'000'000'000)};
  nanoseconds room_{0};
  std::vector<LaneId> pinned_;
  std::vector<std::uint32_t> pinned_counters_;
  Filter filter_;
  Loader loader_;  // last: it ends its threads first
};

}  // namespace rankscope::gui
