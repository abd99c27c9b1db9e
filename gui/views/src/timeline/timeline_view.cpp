#include "rankscope/gui/views/timeline/timeline_view.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QPainter>
#include <QScrollBar>
#include <QSettings>
#include <algorithm>

#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/details/selection_text.h"
#include "timeline/commands.h"
#include "timeline/timeline_state.h"

namespace rankscope::gui {

OverlayInput TimelineView::State::overlay(const TimelineView& view) const {
  return {.session = view.session_,
          .model = *view.model_,
          .navigator = *view.navigator_,
          .layout = layout,
          .theme = theme,
          .cursor = cursor,
          .drag = drag,
          .flows = flows,
          .critical_path = view.critical_path_,
          .strip = strip.isNull() ? nullptr : &strip,
          .header = view.hasFocus() ? header : std::nullopt};
}

TimelineView::TimelineView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(std::make_unique<TimelineModel>(session)),
      navigator_(std::make_unique<Navigator>(session, *model_)),
      selection_text_(new SelectionText(session, this)),
      bar_(new QScrollBar(Qt::Vertical, this)),
      state_(std::make_unique<State>()) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMinimumSize(420, 200);
  setAccessibleName(tr("Timeline"));
  describe_selection();
  bar_->setAccessibleName(tr("Scroll rows"));
  state_->theme = palette().base().color().lightness() < 128 ? Theme::dark : Theme::light;
  connect_models();
  connect(selection_text_, &SelectionText::made, this,
          [](const QString& text) { QGuiApplication::clipboard()->setText(text); });
  add_commands();
  take_tracks();
}

TimelineView::~TimelineView() = default;

void TimelineView::connect_models() {
  connect(model_.get(), &TimelineModel::tracksChanged, this, &TimelineView::take_tracks);
  connect(model_.get(), &TimelineModel::factsChanged, this, [this] {
    state_->strip = {};
    take_selection();
    request_frame();
  });
  connect(&session_, &Session::visibleRangeChanged, this, &TimelineView::request_frame);
  connect(&session_, &Session::selectionChanged, this, [this] {
    state_->header.reset();
    take_selection();
  });
  connect(&session_, &Session::areaChanged, this, [this] { update(); });
  connect(&session_, &Session::stateChanged, this, [this] { take_progress(0); });
  connect(&session_, &Session::progressed, this, &TimelineView::take_progress);
  connect(&session_, &Session::revealRequested, this, [this](RankId rank) { reveal(rank); });
  connect(&session_, &Session::spanRevealRequested, this, [this](SpanId span) { reveal(span); });
  connect(navigator_.get(), &Navigator::litChanged, this, &TimelineView::request_frame);
  connect(navigator_.get(), &Navigator::marksChanged, this, [this] { update(); });
  connect(bar_, &QScrollBar::valueChanged, this, &TimelineView::request_frame);
  connect(&state_->renderer, &Renderer::painted, this, [this](const Frame& frame) {
    state_->frame = frame;
    update();
    Q_EMIT framePainted();
  });
}

void TimelineView::add_commands() {
  const QSettings settings;
  for (const Command& command : commands()) {
    auto* const action = new QAction(qt_text(command.title), this);
    action->setObjectName(qt_text(command.id));
    const QString bound =
        settings.value(QStringLiteral("keys/") + qt_text(command.id), qt_text(command.keys)).toString();
    QList<QKeySequence> keys;
    for (const QString& key : bound.split(QLatin1Char{' '}, Qt::SkipEmptyParts)) keys.push_back(QKeySequence{key});
    action->setShortcuts(keys);
    action->setShortcutContext(Qt::WidgetShortcut);
    connect(action, &QAction::triggered, this, [this, run = command.run] { run(*this); });
    addAction(action);
  }
}

void TimelineView::take_tracks() {
  state_->layout = layout_of(QSizeF(std::max(1, width() - bar_->sizeHint().width()), height()),
                             model_->tracks().pinned_height, bar_->value());
  const double room = state_->layout.canvas.height() - state_->layout.pinned_height;
  bar_->setPageStep(static_cast<int>(room));
  bar_->setSingleStep(static_cast<int>(model_->row_height()));
  bar_->setRange(0, std::max(0, static_cast<int>(model_->tracks().height - room)));
  navigator_->set_width(state_->layout.canvas.width());
  request_frame();
}

void TimelineView::take_selection() {
  const auto& facts = model_->facts();
  const bool known = session_.selection() && facts != nullptr && facts->run == session_.run();
  state_->flows = known ? flows_of(*facts, *session_.selection()) : std::vector<Flow>{};
  // Of thousands of members, only some have arrows: its own ones come first.
  std::stable_partition(state_->flows.begin(), state_->flows.end(), [this](const Flow& flow) {
    return session_.selection() && (flow.from == *session_.selection() || flow.to == *session_.selection());
  });
  describe_selection();
  update();
}

void TimelineView::request_frame() {
  update();
  state_->layout.scroll = bar_->value();
  if (model_->facts() == nullptr) {
    state_->frame = {};
    state_->wanted = 0;
    return;
  }
  state_->wanted = state_->renderer.request(scene(), state_->layout.scroll);
}

bool TimelineView::is_up_to_date() const { return state_->wanted != 0 && state_->frame.number == state_->wanted; }

/// A frame of another range is stretched to where it belongs until the new one is there.
void TimelineView::paintEvent(QPaintEvent*) {
  QPainter painter{this};
  const ThemeColours& theme = colours_of(state_->theme);
  painter.fillRect(rect(), QColor{theme.background});
  painter.setPen(QColor{theme.text});
  if (model_->facts() == nullptr) {
    painter.drawText(rect(), Qt::AlignCenter, words_without_rows());
    return;
  }
  const Layout& layout = state_->layout;
  if (state_->strip.isNull())
    state_->strip = heat_strip(*model_->facts(), layout.minimap.size().toSize() - QSize{0, 4}, state_->theme);
  if (!state_->frame.image.isNull()) {
    const TimeScale scale = layout.scale(session_.visible());
    const double left = scale.x_of(state_->frame.time.begin);
    const double right = scale.x_of(state_->frame.time.end);
    painter.setClipRect(layout.canvas);
    painter.drawImage(
        QRectF{left, layout.canvas.top() + state_->frame.scroll - layout.scroll, right - left, layout.canvas.height()},
        state_->frame.image);
    painter.setClipping(false);
  }
  paint_overlay(painter, state_->overlay(*this));
  if (hasFocus()) {
    painter.setPen(QPen{palette().highlight().color(), 2});
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(1, 1, -1, -1));
  }
}

void TimelineView::resizeEvent(QResizeEvent*) {
  const int width_of_bar = bar_->sizeHint().width();
  bar_->setGeometry(width() - width_of_bar, 66, width_of_bar, std::max(1, height() - 66));
  state_->strip = {};
  take_tracks();
}

void TimelineView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange || state_ == nullptr) return;
  state_->theme = palette().base().color().lightness() < 128 ? Theme::dark : Theme::light;
  state_->strip = {};
  request_frame();
}

void TimelineView::zoom(double factor) {
  const QRectF& canvas = state_->layout.canvas;
  const bool inside = state_->cursor && canvas.contains(*state_->cursor);
  navigator_->zoom(factor, inside ? state_->cursor->x() - canvas.left() : canvas.width() / 2);
}

void TimelineView::pan(double part) { navigator_->pan(part * state_->layout.canvas.width()); }
void TimelineView::scroll(double pixels) { bar_->setValue(bar_->value() + static_cast<int>(pixels)); }

void TimelineView::set_colouring(Colouring colouring) {
  if (std::exchange(colouring_, colouring) == colouring) return;
  request_frame();
  Q_EMIT colouringChanged();
}

void TimelineView::show_critical_path(bool shown) {
  critical_path_ = shown;
  update();
}

void TimelineView::reveal(RankId rank) {
  model_->unfold(rank);
  if (const Track* const track = model_->tracks().of_rank(rank)) bar_->setValue(static_cast<int>(track->y));
}

void TimelineView::reveal(SpanId span) {
  const auto& facts = model_->facts();
  if (facts == nullptr || facts->run != session_.run()) return;
  const LaneId lane = facts->run->span(span).lane;
  const std::uint32_t row = facts->lod->place_of(span).row;
  model_->show_row(lane, row);
  const Track* track = model_->tracks().drawing(lane, row);
  if (track == nullptr) track = model_->tracks().of_lane(lane, *facts->run);
  if (track == nullptr || track->pinned) return;
  const QRectF box = place_of(state_->overlay(*this), span)
                         .value_or(QRectF{0, state_->layout.y_of(*track), 0, std::min(track->height, 1.0)});
  const double top = state_->layout.canvas.top() + state_->layout.pinned_height;
  const double bottom = state_->layout.canvas.bottom();
  if (box.top() < top || box.bottom() > bottom)
    bar_->setValue(bar_->value() + static_cast<int>(box.center().y() - (top + bottom) / 2));
}

void TimelineView::pin_by_name() {
  const auto& run = session_.run();
  if (run == nullptr || !session_.selection()) return;
  const Lane& own = run->lane(run->span(*session_.selection()).lane);
  const auto is_pinned = [this](LaneId lane) {
    return std::ranges::find(session_.pinned(), lane) != session_.pinned().end();
  };
  const bool pinned = is_pinned(run->id_of(own));
  for (const Lane& lane : run->lanes())
    if (lane.name == own.name && lane.kind == own.kind && is_pinned(run->id_of(lane)) == pinned)
      session_.toggle_pin(run->id_of(lane));
}

void TimelineView::copy_text() { selection_text_->ask(); }

std::optional<QRectF> TimelineView::box_of(SpanId span) const { return gui::box_of(state_->overlay(*this), span); }

}  // namespace rankscope::gui
