// Rank x step: a cell each, a click goes there.
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QResizeEvent>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>
#include <cmath>
#include <utility>
#include <vector>

#include "base/panel_parts.h"
#include "base/shades.h"
#include "rankscope/gui/models/report/step_map_model.h"

namespace rankscope::gui {
namespace {

/// A cell is its colour. Numbers are in the cells where the widest of them has room, so that no single short one stands
/// among empty cells.
class CellPainter : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const int gap = option.rect.width() > 6 ? 1 : 0;
    const QRect cell = option.rect.adjusted(0, 0, -gap, -1);
    const QVariant shade = index.data(StepMapModel::shade_role);
    if (!shade.isValid()) {
      painter->fillRect(cell, QBrush{option.palette.color(QPalette::Mid), Qt::BDiagPattern});
      return;
    }
    const QColor colour = colour_of_shade(shade.toInt(), option.palette);
    painter->fillRect(cell, colour);
    const QString unit = QStringLiteral(" ms");
    const QString widest = index.data(StepMapModel::widest_role).toString();
    const auto has_room = [&](const QString& text) {
      return option.fontMetrics.horizontalAdvance(text) + 4 <= cell.width();
    };
    if (has_room(widest)) {
      painter->setPen(text_on(colour));
      painter->drawText(cell, Qt::AlignCenter,
                        index.data(Qt::DisplayRole).toString() + (has_room(widest + unit) ? unit : QString{}));
    }
    if ((option.state & QStyle::State_Selected) == 0) return;
    painter->setPen(QPen{option.palette.color(QPalette::Text), 2});
    painter->drawRect(cell.adjusted(1, 1, -1, -1));
  }
};

/// Numbers of steps, as many as fit; those in sight have a bar.
class StepHeader : public QHeaderView {
 public:
  explicit StepHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) { setSectionsClickable(false); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter{viewport()};
    painter.fillRect(viewport()->rect(), palette().window());
    for (int section = 0; section < count(); ++section) {
      const QRect rect{sectionViewportPosition(section), 0, sectionSize(section), height()};
      if (rect.right() < -labels_reach || rect.left() > viewport()->width() + labels_reach) continue;
      if (model()->index(0, section).data(StepMapModel::visible_role).toBool())
        painter.fillRect(QRect{rect.left(), rect.bottom() - 2, rect.width(), 3}, palette().highlight());
      if (section % stride() != 0) continue;
      const QString label = model()->headerData(section, orientation(), Qt::DisplayRole).toString();
      painter.drawText(rect.adjusted(-labels_reach, 0, labels_reach, -3), Qt::AlignCenter, label);
    }
  }

 private:
  static constexpr int labels_reach = 60;  // pixels: a label is centred on its section and may be wider

  [[nodiscard]] int stride() const {
    const QString last = model()->headerData(count() - 1, orientation(), Qt::DisplayRole).toString();
    const int wanted = fontMetrics().horizontalAdvance(last) + 8;
    return std::max(1, (wanted + defaultSectionSize() - 1) / std::max(1, defaultSectionSize()));
  }
};

/// Fills its width with all steps as long as a cell keeps two pixels.
class MapView : public QTableView {
 public:
  using QTableView::QTableView;
  void fit() {
    const int steps = model()->columnCount();
    if (steps == 0) return;
    horizontalHeader()->setDefaultSectionSize(std::clamp(viewport()->width() / steps, 2, 96));
  }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QTableView::resizeEvent(event);
    fit();
  }
};

/// The colours with what they stand for.
class ShadeScale : public QWidget {
 public:
  explicit ShadeScale(QWidget* parent = nullptr) : QWidget(parent) {
    setAccessibleName(tr("Scale: blue means less than the median, orange means more"));
    setObjectName(QStringLiteral("step_map_scale"));
    setMinimumHeight(2 * fontMetrics().height() + 6);
    setToolTip(tr("Difference from the median rank or the median step, in percent of the median step"));
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter{this};
    const double cell = std::min(70.0, static_cast<double>(width()) / static_cast<double>(shade_count));
    const int bar = fontMetrics().height() - 2;
    for (std::size_t i = 0; i < shade_count; ++i) {
      const double x = cell * static_cast<double>(i);
      painter.fillRect(QRectF{x, 0, cell - 1, static_cast<double>(bar)},
                       colour_of_shade(static_cast<int>(i), palette()));
    }
    for (const auto& [box, text] : limits(cell, static_cast<double>(bar + 2)))
      painter.drawText(box, Qt::AlignCenter, text);
  }

 private:
  /// As many as fit beside each other; the first and the last always have their place.
  [[nodiscard]] std::vector<std::pair<QRectF, QString>> limits(double cell, double top) const {
    const auto all = shades();
    std::vector<std::pair<QRectF, QString>> shown;
    const double gap = fontMetrics().horizontalAdvance(QLatin1Char{' '});
    const auto place = [&](std::size_t i) {
      const QString text = QStringLiteral("%1%2%3")
                               .arg(all[i].below > 0 ? QStringLiteral("+") : QStringLiteral("−"))
                               .arg(std::abs(all[i].below) * 100, 0, 'f', 0)
                               .arg(i == 0 || i + 2 == shade_count ? QStringLiteral(" %") : QString{});
      QRectF box{0, top, fontMetrics().horizontalAdvance(text) + 1.0, static_cast<double>(fontMetrics().height())};
      box.moveLeft(std::max(0.0, cell * static_cast<double>(i + 1) - box.width() / 2));
      if (i + 2 == shade_count) box.moveRight(std::min(box.right(), cell * static_cast<double>(shade_count)));
      return std::pair{box, text};
    };
    const auto last = place(shade_count - 2);
    for (std::size_t i = 0; i + 2 < shade_count; ++i) {
      const auto one = place(i);
      const bool fits = shown.empty() || shown.back().first.right() + gap <= one.first.left();
      if (fits && one.first.right() + gap <= last.first.left()) shown.push_back(one);
    }
    shown.push_back(last);
    return shown;
  }
};

class StepMapPanel : public QWidget {
 public:
  StepMapPanel(Session& session, QWidget* parent) : QWidget(parent), model_(session) {
    QVBoxLayout* const rows = make_rows(*this);
    auto* const head = new QHBoxLayout;
    measure_.addItems({tr("Lateness"), tr("Step time")});
    measure_.setObjectName(QStringLiteral("step_map_measure"));
    measure_.setAccessibleName(tr("Values in the map"));
    caption_.setWordWrap(true);
    caption_.setObjectName(QStringLiteral("step_map_caption"));
    help_.setText(QStringLiteral("?"));
    help_.setObjectName(QStringLiteral("step_map_help"));
    help_.setAccessibleName(tr("How to read the map"));
    help_.setAutoRaise(true);
    connect(&help_, &QToolButton::clicked, this, [this] {
      QToolTip::showText(help_.mapToGlobal(QPoint{0, help_.height()}), help_.toolTip(), &help_);
    });
    head->addWidget(&measure_);
    head->addWidget(&help_);
    head->addStretch(1);
    rows->addLayout(head);
    rows->addWidget(&caption_);
    rows->addWidget(&pages_, 1);
    let_shrink(pages_);
    rows->addWidget(&scale_);
    make_map();
    connect(&measure_, &QComboBox::currentIndexChanged, this,
            [this](int index) { model_.set_measure(static_cast<StepMapModel::Measure>(index)); });
    connect(&model_, &StepMapModel::modelReset, this, &StepMapPanel::show_what_there_is);
    connect(&model_, &StepMapModel::dataChanged, map_.horizontalHeader()->viewport(),
            [this] { map_.horizontalHeader()->viewport()->update(); });
    connect(&session, &Session::stateChanged, this, &StepMapPanel::show_what_there_is);
    show_what_there_is();
  }

 private:
  void make_map() {
    map_.setObjectName(QStringLiteral("step_map"));
    map_.setAccessibleName(tr("Ranks and steps: differences from the median"));
    map_.setHorizontalHeader(new StepHeader(&map_));
    map_.setModel(&model_);
    map_.setItemDelegate(new CellPainter(&map_));
    map_.setSelectionMode(QAbstractItemView::SingleSelection);
    map_.setShowGrid(false);
    map_.setTabKeyNavigation(false);
    map_.horizontalHeader()->setMinimumSectionSize(2);
    map_.horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    map_.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    map_.verticalHeader()->setDefaultSectionSize(map_.fontMetrics().height() + 5);
    on_choice(map_, this, [this](const QModelIndex& index) { model_.go_to(index); });
    add_table_menu(map_);
    empty_.setAlignment(Qt::AlignCenter);
    empty_.setWordWrap(true);
    pages_.addWidget(&map_);
    pages_.addWidget(&empty_);
  }

  void show_what_there_is() {
    const QString why = model_.why_empty();
    empty_.setText(why);
    caption_.setText(model_.caption());
    caption_.setVisible(why.isEmpty());
    for (QWidget* const one : std::initializer_list<QWidget*>{&caption_, &help_}) one->setToolTip(model_.help());
    help_.setVisible(why.isEmpty());
    pages_.setCurrentIndex(why.isEmpty() ? 0 : 1);
    measure_.setEnabled(why.isEmpty());
    scale_.setVisible(why.isEmpty());
    map_.fit();
  }

  StepMapModel model_;
  QComboBox measure_;
  QLabel caption_;
  QToolButton help_;
  QStackedWidget pages_;
  MapView map_;
  QLabel empty_;
  ShadeScale scale_;
};

}  // namespace

QWidget* make_step_map_panel(Session& session, QWidget* parent) { return new StepMapPanel(session, parent); }

}  // namespace rankscope::gui
