// What each colour of the timeline stands for.
#include <QCoreApplication>
#include <QDialog>
#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QPixmap>
#include <array>

#include "base/colours.h"
#include "window/help_pages.h"

namespace rankscope::gui {
namespace {

struct KindWords {
  SpanKind kind;
  const char* words;
};
constexpr std::array kinds{
    KindWords{SpanKind::compute, QT_TRANSLATE_NOOP("Legend", "kernel, or a CUDA graph recorded as a whole")},
    KindWords{SpanKind::forward, QT_TRANSLATE_NOOP("Legend", "forward pass")},
    KindWords{SpanKind::backward, QT_TRANSLATE_NOOP("Legend", "backward pass")},
    KindWords{SpanKind::optimizer, QT_TRANSLATE_NOOP("Legend", "optimizer")},
    KindWords{SpanKind::op, QT_TRANSLATE_NOOP("Legend", "operator of the framework")},
    KindWords{SpanKind::comm, QT_TRANSLATE_NOOP("Legend", "communication (hatched)")},
    KindWords{SpanKind::wait, QT_TRANSLATE_NOOP("Legend", "waiting for other ranks (hatched)")},
    KindWords{SpanKind::sync, QT_TRANSLATE_NOOP("Legend", "the host waits in a barrier or for the device (hatched)")},
    KindWords{SpanKind::data, QT_TRANSLATE_NOOP("Legend", "waiting for data")},
    KindWords{SpanKind::loader, QT_TRANSLATE_NOOP("Legend", "data loader worker")},
    KindWords{SpanKind::checkpoint, QT_TRANSLATE_NOOP("Legend", "checkpoint")},
    KindWords{SpanKind::memory, QT_TRANSLATE_NOOP("Legend", "copy or memset")},
    KindWords{SpanKind::runtime, QT_TRANSLATE_NOOP("Legend", "CUDA call")},
    KindWords{SpanKind::api, QT_TRANSLATE_NOOP("Legend", "NCCL call")},
    KindWords{SpanKind::step, QT_TRANSLATE_NOOP("Legend", "step")},
    KindWords{SpanKind::user, QT_TRANSLATE_NOOP("Legend", "other range of the program")},
    KindWords{SpanKind::python, QT_TRANSLATE_NOOP("Legend", "Python call")},
    KindWords{SpanKind::overhead, QT_TRANSLATE_NOOP("Legend", "overhead of the profiler itself")},
};
static_assert(kinds.size() + 1 == span_kind_count, "compute stands for graphs, too");

QString legend_text(const char* text) { return QCoreApplication::translate("Legend", text); }

class Legend {
 public:
  explicit Legend(QDialog& dialog) : dialog_(dialog), grid_(new QGridLayout(&dialog)) {}

  void fill() {
    head(legend_text("By kind"));
    for (const KindWords& one : kinds) row(colour_of(one.kind), is_hatched(one.kind), legend_text(one.words));
    head(legend_text("By lateness of the rank in the step"));
    row(colour_of_lateness(-0.2F), false, legend_text("faster than the median rank by a fifth of a step or more"));
    row(colour_of_lateness(0), false, legend_text("same as the median rank"));
    row(colour_of_lateness(0.2F), false, legend_text("slower than the median rank by a fifth of a step or more"));
    head(legend_text("By name"));
    row(colour_of_place(0), false, legend_text("each of the twelve names that take the most time has its own colour"));
    row(colour_of_name("other"), false, legend_text("all other names share paler colours"));
    head({});
    text(legend_text("A pixel is filled in proportion to the share of its time that events cover."));
    text(legend_text("A zigzag at the bottom of a pixel means that several events begin in it."));
  }

 private:
  void head(const QString& title) {
    auto* const label = new QLabel(title, &dialog_);
    QFont strong = label->font();
    strong.setBold(true);
    label->setFont(strong);
    grid_->addWidget(label, grid_->rowCount(), 0, 1, 2);
  }
  void text(const QString& sentence) {
    auto* const label = new QLabel(sentence, &dialog_);
    grid_->addWidget(label, grid_->rowCount(), 0, 1, 2);
  }
  void row(QRgb colour, bool hatched, const QString& meaning) {
    auto* const swatch = new QLabel(&dialog_);
    swatch->setPixmap(swatch_of(colour, hatched));
    const int at = grid_->rowCount();
    grid_->addWidget(swatch, at, 0);
    grid_->addWidget(new QLabel(meaning, &dialog_), at, 1);
    grid_->setColumnStretch(1, 1);
  }
  [[nodiscard]] QPixmap swatch_of(QRgb colour, bool hatched) const {
    QPixmap pixmap{QSize{36, dialog_.fontMetrics().height()}};
    pixmap.fill(QColor{colour});
    if (!hatched) return pixmap;
    QPainter painter{&pixmap};
    painter.setPen(QColor{blend(colour, 0xFF000000, 0.3F)});
    for (int x = 0; x < pixmap.width() + pixmap.height(); x += 6)
      painter.drawLine(x, 0, x - pixmap.height(), pixmap.height());
    return pixmap;
  }

  QDialog& dialog_;
  QGridLayout* grid_;
};

}  // namespace

void show_legend(QWidget& window) {
  if (raise_if_open(window, QStringLiteral("legend"))) return;
  auto* const dialog = new QDialog(&window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName(QStringLiteral("legend"));
  dialog->setWindowTitle(legend_text("What the colours mean"));
  Legend{*dialog}.fill();
  dialog->show();
}

}  // namespace rankscope::gui
