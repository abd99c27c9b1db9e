// Operators of a rank as a flame graph and as a tree: what is selected or in sight, added up by what called what.
#include <QAbstractScrollArea>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTabWidget>
#include <QToolTip>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>

#include "base/panel_parts.h"
#include "base/shades.h"
#include "flame/flame_scene.h"
#include "rankscope/core/format.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/flame/flame_model.h"

namespace rankscope::gui {
namespace {

/// A click zooms into a frame; keys move from frame to frame.
class FlameView : public QAbstractScrollArea {
 public:
  FlameView(FlameModel& model, Session& session, QWidget* parent = nullptr)
      : QAbstractScrollArea(parent), model_(model), session_(session) {
    setObjectName(QStringLiteral("flame_view"));
    setAccessibleName(tr("Operators, with each call above the calls nested in it"));
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(&model, &FlameModel::topChanged, this, [this] { take_boxes(); });
    connect(&session, &Session::selectionChanged, this, [this] { take_selection(); });
    connect(&session, &Session::filterChanged, viewport(), [this] { viewport()->update(); });
  }

  /// The one that buttons act on.
  [[nodiscard]] std::uint32_t current() const { return current_; }
  /// Where it is on the viewport; empty if it is too narrow to be drawn.
  [[nodiscard]] QRectF rect_of(std::uint32_t frame) const {
    const FlameBox* const box = box_of(frame);
    return box == nullptr ? QRectF{} : scene().rect_of(*box);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter{viewport()};
    if (model_.tree() == nullptr) return;
    const FlameScene shown = scene();
    painter.drawImage(QPointF{0, 0}, paint(shown));
    const double height = fontMetrics().height();
    for (const FlameBox& box : shown.boxes) {
      const QRectF rect = shown.rect_of(box);
      if (box.more > 0 || rect.width() < 24 || rect.bottom() < 0 || rect.top() > shown.height) continue;
      painter.setPen(text_on(colour_of(shown, box)));
      const QRectF room{rect.left() + 4, rect.top() + (rect.height() - height) / 2, rect.width() - 8, height};
      const QString label =
          fontMetrics().elidedText(model_.label(box.frame), Qt::ElideRight, static_cast<int>(room.width()));
      if (label.size() > 2) painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, label);
    }
  }

  void resizeEvent(QResizeEvent* event) override {
    QAbstractScrollArea::resizeEvent(event);
    take_boxes();
  }

  void mousePressEvent(QMouseEvent* event) override {
    const FlameScene shown = scene();
    const FlameBox* const box = shown.box_at(event->position());
    if (box == nullptr || event->button() != Qt::LeftButton) return;
    const std::uint32_t frame = box->more > 0 ? model_.tree()->frame(box->frame).parent : box->frame;
    choose(frame);
    model_.zoom_to(frame);
  }

  void keyPressEvent(QKeyEvent* event) override {
    if (model_.tree() == nullptr) return QAbstractScrollArea::keyPressEvent(event);
    switch (event->key()) {
      case Qt::Key_Up:
        return choose(model_.tree()->frame(current_).parent);
      case Qt::Key_Down:
        if (const auto& children = model_.tree()->frame(current_).children; !children.empty()) choose(children.front());
        return;
      case Qt::Key_Left:
        return choose_beside(-1);
      case Qt::Key_Right:
        return choose_beside(1);
      case Qt::Key_Return:
      case Qt::Key_Enter:
        return model_.zoom_to(current_);
      case Qt::Key_Backspace:
        return model_.zoom_out();
      case Qt::Key_Home:
        return model_.reset();
      default:
        return QAbstractScrollArea::keyPressEvent(event);
    }
  }

  bool viewportEvent(QEvent* event) override {
    if (event->type() != QEvent::ToolTip || model_.tree() == nullptr) return QAbstractScrollArea::viewportEvent(event);
    const auto* const help = static_cast<QHelpEvent*>(event);
    const FlameScene shown = scene();
    if (const FlameBox* const box = shown.box_at(help->pos()); box != nullptr && box->more > 0)
      QToolTip::showText(help->globalPos(),
                         tr("%1; click the frame above to zoom in").arg(qt_text(counted(box->more, "narrow frame"))));
    else if (box != nullptr)
      QToolTip::showText(help->globalPos(), model_.sentence(box->frame), viewport());
    return true;
  }

 private:
  [[nodiscard]] double row_height() const { return fontMetrics().height() + 5; }

  [[nodiscard]] FlameScene scene() const {
    FlameScene scene{.tree = model_.tree().get(),
                     .boxes = boxes_,
                     .width = static_cast<double>(viewport()->width()),
                     .height = static_cast<double>(viewport()->height()),
                     .scroll = static_cast<double>(verticalScrollBar()->value()),
                     .row_height = row_height(),
                     .ratio = devicePixelRatioF(),
                     .current = hasFocus() ? std::optional{current_} : std::nullopt,
                     .selected = selected_,
                     .theme = is_dark(palette()) ? Theme::dark : Theme::light};
    const QString text = QString::fromStdString(session_.filter().text);
    if (!text.isEmpty())
      scene.lit = [this, text](std::uint32_t frame) {
        return model_.full_name(frame).contains(text, Qt::CaseInsensitive);
      };
    return scene;
  }

  [[nodiscard]] const FlameBox* box_of(std::uint32_t frame) const {
    const auto is_it = [frame](const FlameBox& box) { return box.frame == frame && box.more == 0; };
    const auto found = std::ranges::find_if(boxes_, is_it);
    return found == boxes_.end() ? nullptr : &*found;
  }

  void take_boxes() {
    const auto& tree = model_.tree();
    boxes_ = tree == nullptr ? std::vector<FlameBox>{} : flame_boxes(*tree, model_.top(), viewport()->width());
    if (tree != shown_tree_) current_ = model_.top();
    shown_tree_ = tree;
    const auto deepest = std::ranges::max_element(boxes_, {}, &FlameBox::row);
    const int rows = deepest == boxes_.end() ? 0 : deepest->row + 1;
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(static_cast<int>(row_height()));
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(rows * row_height()) - viewport()->height()));
    take_selection();
  }

  void take_selection() {
    selected_ = model_.selected_frame();
    viewport()->update();
  }

  /// Its neighbour below the same frame.
  void choose_beside(int by) {
    const auto& siblings = model_.tree()->frame(model_.tree()->frame(current_).parent).children;
    const auto place = std::ranges::find(siblings, current_) - siblings.begin() + by;
    if (current_ != 0 && place >= 0 && place < std::ssize(siblings)) choose(siblings[static_cast<std::size_t>(place)]);
  }

  void choose(std::uint32_t frame) {
    current_ = frame;
    if (const QRectF rect = rect_of(frame); rect.top() < 0 || rect.bottom() > viewport()->height())
      verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(rect.top()));
    setAccessibleDescription(model_.sentence(frame));
    viewport()->update();
  }

  FlameModel& model_;
  Session& session_;
  std::vector<FlameBox> boxes_;
  std::shared_ptr<const FlameTree> shown_tree_;
  std::uint32_t current_ = 0;
  std::optional<std::uint32_t> selected_;
};

class FlamePanel : public LazyPanel {
 public:
  FlamePanel(Session& session, QWidget* parent) : LazyPanel(parent), model_(session), view_(model_, session) {
    QVBoxLayout* const rows = make_rows(*this);
    rows->addLayout(make_head());
    rows->addWidget(&pages_, 1);
    make_tabs();
    setFocusProxy(&view_);
    connect(&model_, &FlameModel::ranksChanged, this, &FlamePanel::list_ranks);
    connect(&model_, &FlameModel::rankChanged, this, [this] { rank_.setCurrentIndex(model_.rank_row()); });
    connect(&model_, &FlameModel::topChanged, this, &FlamePanel::show_what_there_is);
    connect(&model_, &FlameModel::modelReset, this, &FlamePanel::unfold);
    list_ranks();
    show_what_there_is();
  }

 protected:
  void set_active(bool active) override { model_.set_active(active); }

 private:
  QHBoxLayout* make_head() {
    auto* const head = new QHBoxLayout;
    rank_.setObjectName(QStringLiteral("flame_rank"));
    rank_.setAccessibleName(tr("Rank"));
    caption_.setObjectName(QStringLiteral("flame_caption"));
    head->addWidget(&rank_);
    head->addWidget(&caption_, 1);
    add_button(*head, out_,
               {tr("Zoom &out"), tr("Show the caller of the frame that fills the graph (Backspace)"), "flame_out"});
    add_button(*head, all_, {tr("Show &all"), tr("Show all calls of the rank (Home)"), "flame_all"});
    add_button(*head, longest_,
               {tr("&Longest call"), tr("Select the longest call of the frame in the timeline"), "flame_longest"});
    add_button(*head, find_,
               {tr("Fin&d in timeline"), tr("Highlight all calls with this name in the timeline"), "flame_find"});
    connect(&rank_, &QComboBox::activated, &model_, &FlameModel::set_rank_row);
    connect(&out_, &QPushButton::clicked, &model_, &FlameModel::zoom_out);
    connect(&all_, &QPushButton::clicked, &model_, &FlameModel::reset);
    connect(&longest_, &QPushButton::clicked, this, [this] { model_.go_to_longest(chosen()); });
    connect(&find_, &QPushButton::clicked, this, [this] { model_.search_in_timeline(chosen()); });
    return head;
  }

  struct ButtonWords {
    QString text;
    QString tip;
    const char* object_name;
  };
  static void add_button(QHBoxLayout& line, QPushButton& button, const ButtonWords& words) {
    button.setText(words.text);
    button.setToolTip(words.tip);
    button.setAccessibleDescription(words.tip);
    button.setObjectName(QString::fromLatin1(words.object_name));
    line.addWidget(&button);
  }

  void make_tabs() {
    tree_.setObjectName(QStringLiteral("flame_tree"));
    tree_.setAccessibleName(tr("Operators as a tree"));
    tree_.setModel(&model_);
    tree_.setUniformRowHeights(true);
    tree_.setAlternatingRowColors(true);
    tree_.setTabKeyNavigation(false);
    tree_.header()->setStretchLastSection(false);
    tree_.header()->setSectionResizeMode(FlameModel::name, QHeaderView::Stretch);
    connect(&tree_, &QTreeView::activated, this,
            [this](const QModelIndex& index) { model_.go_to_longest(model_.frame_at(index)); });
    tabs_.setObjectName(QStringLiteral("flame_tabs"));
    tabs_.setAccessibleName(tr("Operators as a flame graph and as a tree"));
    tabs_.setDocumentMode(true);
    tabs_.addTab(&view_, tr("Flame graph"));
    tabs_.addTab(&tree_, tr("Tree"));
    set_up_empty(empty_, QStringLiteral("flame_empty"));
    pages_.addWidget(&tabs_);
    pages_.addWidget(&empty_);
  }

  [[nodiscard]] std::uint32_t chosen() const {
    if (tabs_.currentIndex() == 0) return view_.current();
    return tree_.currentIndex().isValid() ? model_.frame_at(tree_.currentIndex()) : 0;
  }

  void list_ranks() {
    rank_.clear();
    rank_.addItems(model_.ranks());
    rank_.setCurrentIndex(model_.rank_row());
  }

  void show_what_there_is() {
    const QString why = model_.why_empty();
    empty_.setText(why);
    caption_.setText(model_.caption());
    pages_.setCurrentIndex(why.isEmpty() ? 0 : 1);
    out_.setEnabled(model_.top() != 0);
    all_.setEnabled(model_.top() != 0);
    longest_.setEnabled(why.isEmpty());
    find_.setEnabled(why.isEmpty());
  }

  void unfold() {
    tree_.expandToDepth(2);
    for (int column = FlameModel::total; column <= FlameModel::longest; ++column) tree_.resizeColumnToContents(column);
  }

  FlameModel model_;
  QComboBox rank_;
  QLabel caption_;
  QPushButton out_, all_, longest_, find_;
  QStackedWidget pages_;
  QTabWidget tabs_;
  FlameView view_;
  QTreeView tree_;
  QLabel empty_;
};

}  // namespace

QWidget* make_flame_panel(Session& session, QWidget* parent) { return new FlamePanel(session, parent); }

}  // namespace rankscope::gui
