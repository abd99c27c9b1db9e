// The schedule of a pipeline as it ran; a click on an action goes to it in the timeline.
#include <QAbstractScrollArea>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>

#include "base/panel_parts.h"
#include "base/shades.h"
#include "pipeline/pipeline_scene.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/pipeline/pipeline_model.h"
#include "timeline/ruler.h"

namespace rankscope::gui {
namespace {

constexpr double place_gutter = 150;
constexpr double share_width = 56;  // at the right: how idle the row is
constexpr double place_ruler_height = 22;
constexpr double row_height = 30;

/// A row per stage under one ruler; keys move from action to action.
class PipelineChart : public QAbstractScrollArea {
 public:
  PipelineChart(PipelineModel& model, Session& session, QWidget* parent = nullptr)
      : QAbstractScrollArea(parent), model_(model) {
    setObjectName(QStringLiteral("pipeline_chart"));
    setAccessibleName(tr("Schedule of the pipeline, with one row for each stage"));
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(&model, &PipelineModel::shownChanged, this, [this] { take_step(); });
    connect(&session, &Session::selectionChanged, viewport(), [this] { viewport()->update(); });
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter{viewport()};
    const ThemeColours& theme = colours_of(shown_theme());
    painter.fillRect(viewport()->rect(), QColor{theme.background});
    if (model_.shown() == nullptr) return;
    const PipelineScene shown = scene();
    painter.save();
    painter.setClipRect(QRectF{0, place_ruler_height, static_cast<double>(viewport()->width()),
                               static_cast<double>(viewport()->height())});
    painter.translate(0, place_ruler_height - verticalScrollBar()->value());
    painter.drawImage(QPointF{place_gutter, shown.top()}, paint(shown));
    paint_names(painter, shown);
    paint_labels(painter, shown);
    painter.restore();
    TimeScale scale = shown.scale();
    scale.left = place_gutter;
    paint_ruler(painter, {.box = QRectF{place_gutter, 0, shown.width, place_ruler_height},
                          .scale = scale,
                          .origin = model_.shown()->time.begin,
                          .longest = model_.shown()->time.length(),
                          .theme = shown_theme()});
  }

  void resizeEvent(QResizeEvent* event) override {
    QAbstractScrollArea::resizeEvent(event);
    take_step();
  }

  void mousePressEvent(QMouseEvent* event) override {
    const auto action = action_at(event->position());
    if (!action || event->button() != Qt::LeftButton) return;
    choose(*action);
    model_.go_to(static_cast<int>(*action));
  }

  void keyPressEvent(QKeyEvent* event) override {
    if (model_.shown() == nullptr) return QAbstractScrollArea::keyPressEvent(event);
    const std::size_t last = model_.shown()->actions.size() - 1;
    switch (event->key()) {
      case Qt::Key_Left:
        return choose(current_ == 0 ? 0 : current_ - 1);
      case Qt::Key_Right:
        return choose(std::min(last, current_ + 1));
      case Qt::Key_Up:
        return choose_on(-1);
      case Qt::Key_Down:
        return choose_on(1);
      case Qt::Key_Home:
        return choose(0);
      case Qt::Key_End:
        return choose(last);
      case Qt::Key_PageUp:
        return model_.set_step(model_.step() - 1);
      case Qt::Key_PageDown:
        return model_.set_step(model_.step() + 1);
      case Qt::Key_Return:
      case Qt::Key_Enter:
        return model_.go_to(static_cast<int>(current_));
      default:
        return QAbstractScrollArea::keyPressEvent(event);
    }
  }

  bool viewportEvent(QEvent* event) override {
    if (event->type() != QEvent::ToolTip || model_.shown() == nullptr) return QAbstractScrollArea::viewportEvent(event);
    const auto* const help = static_cast<QHelpEvent*>(event);
    if (const auto action = action_at(help->pos()))
      QToolTip::showText(help->globalPos(), model_.sentence(static_cast<int>(*action)), viewport());
    else
      show_bubble_tip(*help);
    return true;
  }

 private:
  [[nodiscard]] Theme shown_theme() const { return is_dark(palette()) ? Theme::dark : Theme::light; }

  [[nodiscard]] PipelineScene scene() const {
    const int selected = model_.selected_row();
    // Only rows in sight: a pipeline of many stages would be an image of many screens.
    const int first = std::clamp(static_cast<int>(verticalScrollBar()->value() / row_height), 0, model_.place_count());
    const int in_sight = static_cast<int>(std::ceil(viewport()->height() / row_height)) + 1;
    return {.actions = model_.shown()->actions,
            .step = model_.shown()->time,
            .time = model_.drawn_range(),
            .places = std::min(in_sight, model_.place_count() - first),
            .first = first,
            .width = std::max(1.0, viewport()->width() - place_gutter - share_width),
            .row_height = row_height,
            .ratio = devicePixelRatioF(),
            .current = hasFocus() ? std::optional{current_} : std::nullopt,
            .selected = selected < 0 ? std::nullopt : std::optional{static_cast<std::size_t>(selected)},
            .theme = shown_theme()};
  }

  [[nodiscard]] QPointF in_scene(QPointF position) const {
    return {position.x() - place_gutter, position.y() - place_ruler_height + verticalScrollBar()->value()};
  }

  [[nodiscard]] std::optional<std::size_t> action_at(QPointF position) const {
    if (model_.shown() == nullptr || position.y() < place_ruler_height || position.x() < place_gutter)
      return std::nullopt;
    const PipelineScene shown = scene();
    for (std::size_t i = 0; i < shown.actions.size(); ++i)
      if (shown.rect_of(i).contains(in_scene(position))) return i;
    return std::nullopt;
  }

  void show_bubble_tip(const QHelpEvent& help) {
    const PipelineScene shown = scene();
    const QPointF position = in_scene(help.pos());
    for (int place = shown.first; place < shown.first + shown.places; ++place)
      for (const TimeRange bubble : bubbles_of(shown.actions, shown.step, place))
        if (shown.rect_of(place, bubble).contains(position))
          QToolTip::showText(help.globalPos(), model_.idle_sentence(place, bubble), viewport());
  }

  void paint_names(QPainter& painter, const PipelineScene& shown) const {
    painter.setPen(QColor{colours_of(shown_theme()).text});
    for (int place = shown.first; place < shown.first + shown.places; ++place) {
      const QRectF room{4, place * row_height, place_gutter - 10, row_height - 4};
      painter.drawText(
          room, Qt::AlignVCenter | Qt::AlignLeft,
          fontMetrics().elidedText(model_.place_name(place), Qt::ElideRight, static_cast<int>(room.width())));
      const QRectF share{viewport()->width() - share_width, place * row_height, share_width - 4, row_height - 4};
      painter.drawText(share, Qt::AlignVCenter | Qt::AlignRight,
                       percent_text(model_.shown()->bubble(static_cast<std::size_t>(place))));
    }
  }

  void paint_labels(QPainter& painter, const PipelineScene& shown) const {
    for (std::size_t i = 0; i < shown.actions.size(); ++i) {
      if (!shown.draws(shown.actions[i].place)) continue;
      const QRectF rect = shown.rect_of(i).translated(place_gutter, 0);
      const QString name = model_.action_name(static_cast<int>(i));
      const QString number = QString::number(shown.actions[i].action.micro_batch);
      const QString& label = fontMetrics().horizontalAdvance(name) + 4 <= rect.width() ? name : number;
      if (fontMetrics().horizontalAdvance(label) + 2 > rect.width()) continue;
      painter.setPen(text_on(colour_of(shown.actions[i].action.part)));
      painter.drawText(rect, Qt::AlignCenter, label);
    }
  }

  void take_step() {
    const auto* const shown = model_.shown();
    if (shown == nullptr || current_ >= shown->actions.size()) current_ = 0;
    const int content = static_cast<int>(std::ceil(model_.place_count() * row_height + place_ruler_height));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(static_cast<int>(row_height));
    verticalScrollBar()->setRange(0, std::max(0, content - viewport()->height()));
    viewport()->update();
  }

  /// On the row above or below the action that is nearest in time.
  void choose_on(int by) {
    const auto& actions = model_.shown()->actions;
    const analyzer::PlacedAction& from = actions[current_];
    std::optional<std::size_t> best;
    const auto distance = [&](std::size_t i) { return std::chrono::abs(actions[i].time.begin - from.time.begin); };
    for (std::size_t i = 0; i < actions.size(); ++i)
      if (actions[i].place == from.place + by && (!best || distance(i) < distance(*best))) best = i;
    if (best) choose(*best);
  }

  void choose(std::size_t action) {
    current_ = action;
    const double top = model_.shown()->actions[action].place * row_height;
    QScrollBar& bar = *verticalScrollBar();
    if (top < bar.value() || top + row_height > bar.value() + viewport()->height() - place_ruler_height)
      bar.setValue(static_cast<int>(top));
    setAccessibleDescription(model_.sentence(static_cast<int>(action)));
    viewport()->update();
  }

  PipelineModel& model_;
  std::size_t current_ = 0;
};

/// What the colours of the step stand for.
class PartsLegend : public QWidget {
 public:
  explicit PartsLegend(QWidget* parent = nullptr) : QWidget(parent) {
    setAccessibleName(tr("F: forward, B: backward, I: input gradient, W: weight gradient, hatched: idle"));
    setMinimumHeight(fontMetrics().height() + 4);
    setToolTip(accessibleName());
  }

  void show_parts_of(const analyzer::StepOfPipeline* step) {
    parts_ = {};
    if (step != nullptr)
      for (const analyzer::PlacedAction& one : step->actions) parts_[static_cast<std::size_t>(one.action.part)] = true;
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    const std::array<QString, 4> words{tr("F forward"), tr("B backward"), tr("I input gradient"),
                                       tr("W weight gradient")};
    QPainter painter{this};
    int x = 2;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (parts_[i]) x = paint_entry(painter, x, QColor{colour_of(static_cast<PipelinePart>(i))}, words[i]);
    paint_entry(painter, x, QBrush{palette().color(QPalette::Mid), Qt::BDiagPattern}, tr("idle"));
  }

 private:
  /// Returns where the next one begins.
  int paint_entry(QPainter& painter, int x, const QBrush& brush, const QString& words) const {
    const int side = fontMetrics().height();
    painter.fillRect(QRect{x, 2, side, side}, brush);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(x + side + 4, 2 + fontMetrics().ascent(), words);
    return x + side + 4 + fontMetrics().horizontalAdvance(words) + 14;
  }

  std::array<bool, 4> parts_{};  // by PipelinePart
};

class PipelinePanel : public LazyPanel {
 public:
  PipelinePanel(Session& session, QWidget* parent) : LazyPanel(parent), model_(session), chart_(model_, session) {
    QVBoxLayout* const rows = make_rows(*this);
    rows->addLayout(make_head());
    rows->addWidget(&pages_, 1);
    rows->addWidget(&legend_);
    make_pages();
    setFocusProxy(&chart_);
    connect(&model_, &PipelineModel::pipelinesChanged, this, &PipelinePanel::list_pipelines);
    connect(&model_, &PipelineModel::stepsChanged, this, &PipelinePanel::list_steps);
    connect(&model_, &PipelineModel::shownChanged, this, &PipelinePanel::show_what_there_is);
    connect(&session, &Session::stateChanged, this, &PipelinePanel::show_what_there_is);
    list_pipelines();
    show_what_there_is();
  }

 protected:
  void set_active(bool active) override { model_.set_active(active); }

 private:
  QHBoxLayout* make_head() {
    auto* const head = new QHBoxLayout;
    pipeline_.setObjectName(QStringLiteral("pipeline_choice"));
    pipeline_.setAccessibleName(tr("Pipeline"));
    pipeline_.setSizeAdjustPolicy(QComboBox::AdjustToContents);
    step_.setObjectName(QStringLiteral("pipeline_step"));
    step_.setAccessibleName(tr("Step"));
    step_.setSizeAdjustPolicy(QComboBox::AdjustToContents);
    caption_.setObjectName(QStringLiteral("pipeline_caption"));
    caption_.setWordWrap(true);
    head->addWidget(&pipeline_);
    head->addWidget(&step_);
    head->addWidget(&caption_, 1);
    connect(&pipeline_, &QComboBox::activated, &model_, &PipelineModel::set_pipeline);
    connect(&step_, &QComboBox::activated, &model_, &PipelineModel::set_step);
    return head;
  }

  void make_pages() {
    set_up_table(table_, model_, tr("Actions of the pipeline, stage by stage"), QStringLiteral("pipeline_table"));
    table_.horizontalHeader()->setSectionResizeMode(PipelineModel::action, QHeaderView::Stretch);
    on_choice(table_, this, [this](const QModelIndex& index) { model_.go_to(index.row()); });
    tabs_.setObjectName(QStringLiteral("pipeline_tabs"));
    tabs_.setAccessibleName(tr("Schedule as a chart and as a table"));
    tabs_.setDocumentMode(true);
    tabs_.addTab(&chart_, tr("Schedule"));
    tabs_.addTab(&table_, tr("Table"));
    set_up_empty(empty_, QStringLiteral("pipeline_empty"));
    pages_.addWidget(&tabs_);
    pages_.addWidget(&empty_);
  }

  void list_pipelines() {
    pipeline_.clear();
    pipeline_.addItems(model_.pipelines());
    pipeline_.setCurrentIndex(model_.pipeline());
  }

  void list_steps() {
    step_.clear();
    step_.addItems(model_.steps());
    step_.setCurrentIndex(model_.step());
  }

  void show_what_there_is() {
    const QString why = model_.why_empty();
    empty_.setText(why);
    caption_.setText(model_.caption());
    pages_.setCurrentIndex(why.isEmpty() ? 0 : 1);
    legend_.setVisible(why.isEmpty());
    pipeline_.setVisible(pipeline_.count() > 1);
    step_.setVisible(why.isEmpty());
    legend_.show_parts_of(model_.shown());
    step_.setCurrentIndex(model_.step());
  }

  PipelineModel model_;
  QComboBox pipeline_;
  QComboBox step_;
  QLabel caption_;
  QStackedWidget pages_;
  QTabWidget tabs_;
  PipelineChart chart_;
  QTableView table_;
  QLabel empty_;
  PartsLegend legend_;
};

}  // namespace

QWidget* make_pipeline_panel(Session& session, QWidget* parent) { return new PipelinePanel(session, parent); }

}  // namespace rankscope::gui
