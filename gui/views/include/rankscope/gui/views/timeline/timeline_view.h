// All ranks on one time axis.
#pragma once

#include <QWidget>
#include <initializer_list>
#include <memory>
#include <optional>

#include "rankscope/gui/models/session/session.h"
#include "rankscope/gui/models/timeline/navigator.h"
#include "rankscope/gui/models/timeline/timeline_model.h"

class QMenu;
class QPainter;
class QScrollBar;

namespace rankscope::analyzer {
struct StepWindow;
}  // namespace rankscope::analyzer

namespace rankscope::gui {

class SelectionText;
struct Scene;

/// How spans are coloured.
enum class Colouring : std::uint8_t { by_kind, by_name, by_lateness };

/// The session outlives it. Its keys are the rows of commands() (commands.h), each a QAction.
class TimelineView : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineView(Session& session, QWidget* parent = nullptr);
  ~TimelineView() override;

  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] Navigator& navigator() { return *navigator_; }
  [[nodiscard]] TimelineModel& model() { return *model_; }

  /// Zooms at the mouse, or at the centre where the mouse is elsewhere.
  void zoom(double factor);
  /// By a part of what is visible.
  void pan(double part);
  void scroll(double pixels);
  void set_colouring(Colouring colouring);
  [[nodiscard]] Colouring colouring() const { return colouring_; }
  void show_critical_path(bool shown);
  [[nodiscard]] bool shows_critical_path() const { return critical_path_; }
  /// Unfolds and scrolls to the rows of a rank, or to the lane of a span.
  void reveal(RankId rank);
  void reveal(SpanId span);
  /// To the host or rank below or above the current one: that of the selected span, else the first in sight.
  void next_header(Direction direction);
  /// Folds or unfolds the current host or rank.
  void toggle_fold();
  /// Of the selected span: all lanes of its name are pinned, or none if they are.
  void pin_by_name();
  /// Writes what is selected to the clipboard: an event at once, what took a stretch of time when that is computed.
  void copy_text();
  /// Without what follows the mouse, at once, as large as the widget without its scroll bar.
  void paint_picture(QPainter& painter) const;
  [[nodiscard]] QSize picture_size() const;

  [[nodiscard]] std::optional<SpanId> span_at(QPointF position) const;
  /// Where a span is drawn; nothing if its row is not: folded away, or too deep.
  [[nodiscard]] std::optional<QRectF> box_of(SpanId span) const;
  /// The picture on the screen is of what the session says now.
  [[nodiscard]] bool is_up_to_date() const;

 Q_SIGNALS:
  void framePainted();
  void noteRequested();
  void pictureRequested();
  void exportRequested();
  void recordRequested();
  void viewSaveRequested();
  void colouringChanged();
  void searchRequested();
  void trackSearchRequested();
  void lanesChosen(const QString& lanes);  ///< a part of their names; empty: all
  void ranksChosen(const QString& ranks);  ///< as users type them: "2"; empty: all
  void helpRequested();
  void paletteRequested();
  void panelsToggled();
  void panelRequested(const QString& id);  ///< of panels(): to be seen, with the keyboard in it

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct State;  // timeline_state.h
  /// What a pressed mouse button holds, which decides what moving the mouse does.
  enum class Grip : std::uint8_t { none, area, edge, pan, minimap, ruler };

  void connect_models();
  void add_commands();
  void request_frame();
  void take_progress(double share);
  [[nodiscard]] QString words_without_rows() const;
  [[nodiscard]] Scene scene() const;
  void take_tracks();
  void take_selection();
  void press_gutter(QPointF position);
  [[nodiscard]] const Track* current_header() const;
  void go_to_header(const Track& track);
  void describe_selection();
  /// Of the row of steps, at a place; null elsewhere.
  [[nodiscard]] const analyzer::StepWindow* step_under(QPointF position) const;
  void select_step(const analyzer::StepWindow& step);
  /// An event and no range, or nothing at all.
  void select_only(std::optional<SpanId> span);
  /// The moment at which a range that is drawn to this place ends: snapped unless Ctrl is held.
  [[nodiscard]] RunTime edge_for(QPointF position, Qt::KeyboardModifiers modifiers) const;
  void draw_area(QPointF to, Qt::KeyboardModifiers modifiers);
  void finish_area();
  /// Of the selected range, the end that is not under the mouse; nothing where none is.
  [[nodiscard]] std::optional<RunTime> end_opposite(QPointF position) const;
  void move_edge(QPointF to, Qt::KeyboardModifiers modifiers);
  void centre_minimap(double x);
  void offer_event(QMenu& menu, SpanId span);
  void offer_range(QMenu& menu);
  void offer_rows(QMenu& menu, const Track& track);
  void offer_places(QMenu& menu, const Track& track);
  void offer_commands(QMenu& menu, std::initializer_list<const char*> ids);
  [[nodiscard]] Grip grip_at(QPointF position, Qt::KeyboardModifiers modifiers) const;
  [[nodiscard]] const Track* track_at(QPointF position) const;
  [[nodiscard]] QString tip_at(QPointF position) const;

  Session& session_;
  std::unique_ptr<TimelineModel> model_;
  std::unique_ptr<Navigator> navigator_;
  SelectionText* selection_text_ = nullptr;
  QScrollBar* bar_ = nullptr;
  Colouring colouring_ = Colouring::by_kind;
  bool critical_path_ = false;
  std::unique_ptr<State> state_;  // last: its renderer ends first
};

}  // namespace rankscope::gui
