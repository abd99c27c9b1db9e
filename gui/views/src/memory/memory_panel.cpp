// Memory of each rank over the visible range; a click goes to the moment, and to what ran then.
#include <QAbstractScrollArea>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "base/panel_parts.h"
#include "base/shades.h"
#include "memory/memory_scene.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/words.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/memory/memory_model.h"
#include "timeline/ruler.h"

namespace rankscope::gui {
namespace {

constexpr double gutter = 110;
constexpr double ruler_height = 22;
constexpr double lowest_row = 34;
constexpr double highest_row = 110;

/// A curve per rank under one ruler. The row and the moment that keys move are framed.
class MemoryChart : public QAbstractScrollArea {
 public:
  MemoryChart(MemoryModel& model, Session& session, QWidget* parent = nullptr)
      : QAbstractScrollArea(parent), model_(model), session_(session) {
    setObjectName(QStringLiteral("memory_chart"));
    setAccessibleName(tr("Memory over time, with one curve for each rank"));
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    connect(&model, &MemoryModel::peaksChanged, this, [this] { take_rows(); });
    connect(&session, &Session::selectionChanged, this, [this] {
      if (const int row = model_.selected_row(); row >= 0) choose(row, chosen_time());
    });
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter{viewport()};
    const ThemeColours& theme = colours_of(shown_theme());
    painter.fillRect(viewport()->rect(), QColor{theme.background});
    if (model_.rowCount() == 0) return;
    painter.save();
    painter.setClipRect(QRectF{0, ruler_height, width_of(), height_of()});
    const int first = std::max(0, row_at({0, ruler_height}));
    const int last = std::min(model_.rowCount() - 1, first + static_cast<int>(height_of() / row_height()) + 1);
    painter.drawImage(QPointF{gutter, y_of(first)}, paint(scene(first, last)));
    const QString top = qt_text(analyzer::bytes_text(model_.highest()));
    for (int row = first; row <= last; ++row) paint_names(painter, row, top);
    paint_selection(painter);
    painter.restore();
    paint_ruler(painter, {.box = QRectF{gutter, 0, width_of() - gutter, ruler_height},
                          .scale = scale(),
                          .origin = session_.extent().begin,
                          .longest = session_.extent().length(),
                          .theme = shown_theme()});
  }

  void resizeEvent(QResizeEvent* event) override {
    QAbstractScrollArea::resizeEvent(event);
    take_rows();
  }

  void mousePressEvent(QMouseEvent* event) override {
    const int row = row_at(event->position());
    if (row < 0 || event->button() != Qt::LeftButton) return;
    if (event->position().x() < gutter || is_at_peak(row, event->position())) {
      choose(row, chosen_time());
      return model_.go_to_peak(row);
    }
    const RunTime moment = scale().time_at(event->position().x());
    choose(row, moment);
    model_.go_to(row, moment);
  }

  void keyPressEvent(QKeyEvent* event) override {
    const int last = model_.rowCount() - 1;
    const bool far = (event->modifiers() & Qt::ControlModifier) != 0;
    const nanoseconds step = session_.visible().length() / (far ? 10 : 100);
    switch (event->key()) {
      case Qt::Key_Up:
        return choose(std::max(0, row_ - 1), chosen_time());
      case Qt::Key_Down:
        return choose(std::min(last, row_ + 1), chosen_time());
      case Qt::Key_Left:
        return choose(row_, chosen_time() - step);
      case Qt::Key_Right:
        return choose(row_, chosen_time() + step);
      case Qt::Key_Home:
        if (row_ <= last && model_.peak_in_sight(row_)) choose(row_, model_.peak_in_sight(row_)->time);
        return;
      case Qt::Key_Return:
      case Qt::Key_Enter:
        return model_.go_to(row_, chosen_time());
      default:
        return QAbstractScrollArea::keyPressEvent(event);
    }
  }

  bool viewportEvent(QEvent* event) override {
    if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
    const auto* const help = static_cast<QHelpEvent*>(event);
    const int row = row_at(help->pos());
    if (row < 0 || help->pos().x() < gutter) return true;
    QToolTip::showText(help->globalPos(), model_.sentence(row, scale().time_at(help->pos().x())), viewport());
    return true;
  }

 private:
  [[nodiscard]] double width_of() const { return viewport()->width(); }
  [[nodiscard]] double height_of() const { return viewport()->height(); }
  [[nodiscard]] double scroll() const { return verticalScrollBar()->value(); }
  [[nodiscard]] Theme shown_theme() const { return is_dark(palette()) ? Theme::dark : Theme::light; }
  [[nodiscard]] TimeScale scale() const {
    return {.time = session_.visible(), .left = gutter, .width = std::max(1.0, width_of() - gutter)};
  }
  [[nodiscard]] double row_height() const {
    return std::clamp((height_of() - ruler_height) / std::max(1, model_.rowCount()), lowest_row, highest_row);
  }
  [[nodiscard]] double y_of(int row) const { return ruler_height + row * row_height() - scroll(); }
  [[nodiscard]] int row_at(QPointF position) const {
    const double y = position.y() - ruler_height + scroll();
    const int row = static_cast<int>(y / row_height());
    return position.y() >= ruler_height && row < model_.rowCount() ? row : -1;
  }
  [[nodiscard]] bool is_at_peak(int row, QPointF position) const {
    const auto& peak = model_.peak_in_sight(row);
    return peak && std::abs(scale().x_of(peak->time) - position.x()) <= 5;
  }
  [[nodiscard]] RunTime chosen_time() const {
    const TimeRange visible = session_.visible();
    return time_ && visible.contains(*time_) ? *time_ : visible.begin + visible.length() / 2;
  }

  [[nodiscard]] MemoryScene scene(int first, int last) const {
    MemoryScene scene{.time = session_.visible(),
                      .width = scale().width,
                      .row_height = row_height(),
                      .ratio = devicePixelRatioF(),
                      .top = std::max<std::int64_t>(1, model_.highest()),
                      .rows = {},
                      .theme = shown_theme()};
    for (int row = first; row <= last; ++row) scene.rows.push_back({&model_.peaks(row), model_.peak_in_sight(row)});
    const auto& report = session_.report();
    if (report == nullptr || !report->steps) return scene;
    double drawn_at = -100;
    for (const analyzer::Step& step : report->steps->steps) {
      const double x = scene.scale().x_of(step.time.begin);
      if (x < 0 || x > scene.width || x - drawn_at < 8) continue;
      drawn_at = x;
      scene.steps.push_back(step.time.begin);
    }
    return scene;
  }

  void paint_names(QPainter& painter, int row, const QString& top) const {
    const ThemeColours& theme = colours_of(shown_theme());
    const QRectF room{4, y_of(row), gutter - 10, row_height() - 3};
    const auto& peak = model_.peak_in_sight(row);
    painter.setPen(QColor{theme.text});
    painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, model_.index(row, MemoryModel::rank).data().toString());
    painter.drawText(room, Qt::AlignRight | Qt::AlignTop, top);
    painter.drawText(room, Qt::AlignRight | Qt::AlignBottom, QStringLiteral("0"));
    if (!peak) return;
    const QString label = model_.index(row, MemoryModel::peak).data().toString();
    const double wide = painter.fontMetrics().horizontalAdvance(label);
    const double x = scale().x_of(peak->time);
    const double left = x + 8 + wide > width_of() ? x - 8 - wide : x + 8;
    painter.drawText(QPointF{left, y_of(row) + painter.fontMetrics().ascent()}, label);
  }

  void paint_selection(QPainter& painter) const {
    const ThemeColours& theme = colours_of(shown_theme());
    if (session_.selection()) {
      const TimeRange time = session_.run()->span(*session_.selection()).time;
      const double left = std::max(gutter, scale().x_of(time.begin));
      const double right = std::min(width_of(), scale().x_of(time.end));
      QColor veil{theme.accent};
      veil.setAlpha(30);
      if (right >= left) painter.fillRect(QRectF{left, ruler_height, std::max(1.0, right - left), height_of()}, veil);
    }
    if (!hasFocus()) return;
    painter.setPen(QPen{QColor{theme.accent}, 1});
    painter.drawRect(QRectF{0.5, y_of(row_) + 0.5, width_of() - 1, row_height() - 4});
    const double x = std::round(scale().x_of(chosen_time())) + 0.5;
    painter.drawLine(QPointF{x, y_of(row_)}, QPointF{x, y_of(row_) + row_height() - 3});
  }

  void take_rows() {
    const double content = row_height() * model_.rowCount();
    const double room = height_of() - ruler_height;
    verticalScrollBar()->setPageStep(std::max(1, static_cast<int>(room)));
    verticalScrollBar()->setSingleStep(static_cast<int>(row_height()));
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::lround(content - room))));
    row_ = std::clamp(row_, 0, std::max(0, model_.rowCount() - 1));
    viewport()->update();
  }

  void choose(int row, RunTime moment) {
    if (row < 0 || row >= model_.rowCount()) return;
    row_ = row;
    const TimeRange visible = session_.visible();
    time_ = std::clamp(moment, visible.begin, visible.end - nanoseconds{1});
    if (y_of(row) < ruler_height || y_of(row) + row_height() > height_of())
      verticalScrollBar()->setValue(static_cast<int>(row * row_height()));
    setAccessibleDescription(model_.sentence(row, *time_));
    viewport()->update();
  }

  MemoryModel& model_;
  Session& session_;
  int row_ = 0;
  std::optional<RunTime> time_;
};

class MemoryPanel : public LazyPanel {
 public:
  MemoryPanel(Session& session, QWidget* parent) : LazyPanel(parent), model_(session), chart_(model_, session) {
    QVBoxLayout* const rows = make_rows(*this);
    auto* const head = new QHBoxLayout;
    choice_.setObjectName(QStringLiteral("memory_choice"));
    choice_.setAccessibleName(tr("Kind of memory"));
    choice_.setSizeAdjustPolicy(QComboBox::AdjustToContents);
    caption_.setObjectName(QStringLiteral("memory_caption"));
    caption_.setWordWrap(true);
    head->addWidget(&choice_);
    head->addWidget(&caption_, 1);
    rows->addLayout(head);
    rows->addWidget(&pages_, 1);
    make_pages();
    setFocusProxy(&chart_);
    connect(&choice_, &QComboBox::activated, &model_, &MemoryModel::set_choice);
    connect(&model_, &MemoryModel::choicesChanged, this, &MemoryPanel::list_choices);
    connect(&model_, &MemoryModel::peaksChanged, this, &MemoryPanel::show_what_there_is);
    list_choices();
  }

 protected:
  void set_active(bool active) override { model_.set_active(active); }

 private:
  void make_pages() {
    set_up_table(table_, model_, tr("Peaks of memory"), QStringLiteral("memory_table"));
    table_.horizontalHeader()->setSectionResizeMode(MemoryModel::run_peak, QHeaderView::Stretch);
    on_choice(table_, this, [this](const QModelIndex& index) {
      index.column() == MemoryModel::run_peak ? model_.go_to_run_peak(index.row()) : model_.go_to_peak(index.row());
    });
    parts_.setOrientation(Qt::Horizontal);
    parts_.addWidget(&chart_);
    parts_.addWidget(&table_);
    parts_.setStretchFactor(0, 3);
    parts_.setStretchFactor(1, 2);
    set_up_empty(empty_, QStringLiteral("memory_empty"));
    pages_.addWidget(&parts_);
    pages_.addWidget(&empty_);
  }

  void list_choices() {
    choice_.clear();
    choice_.addItems(model_.choices());
    choice_.setCurrentIndex(model_.choice());
    show_what_there_is();
  }

  void show_what_there_is() {
    const QString why = model_.why_empty();
    empty_.setText(why);
    caption_.setText(model_.caption());
    choice_.setVisible(choice_.count() > 0);
    pages_.setCurrentIndex(why.isEmpty() ? 0 : 1);
  }

  MemoryModel model_;
  QComboBox choice_;
  QLabel caption_;
  QStackedWidget pages_;
  QSplitter parts_;
  MemoryChart chart_;
  QTableView table_;
  QLabel empty_;
};

}  // namespace

QWidget* make_memory_panel(Session& session, QWidget* parent) { return new MemoryPanel(session, parent); }

}  // namespace rankscope::gui
