#include "window/marks_menu.h"

#include <QFontMetrics>
#include <memory>

#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/views/timeline/timeline_view.h"

namespace rankscope::gui {
namespace {

/// "1.203 s, 12.3 ms: the loader stalls"
QString words_of_mark(const TimeMark& mark, const Session& session, const QFontMetrics& metrics) {
  constexpr int widest = 400;
  QString text =
      QMenu::tr("%1, %2").arg(time_text(mark.time.begin - session.extent().begin), time_text(mark.time.length()));
  if (!mark.note.empty()) text += QStringLiteral(": ") + qt_text(mark.note).simplified();
  return metrics.elidedText(text, Qt::ElideRight, widest).replace(QLatin1Char{'&'}, QStringLiteral("&&"));
}

}  // namespace

void list_marks(QMenu& menu, TimelineView& timeline) {
  auto listed = std::make_shared<QList<QAction*>>();
  QObject::connect(&menu, &QMenu::aboutToShow, &menu, [&menu, &timeline, listed] {
    for (QAction* const old : *listed) delete old;
    listed->clear();
    const auto& marks = timeline.navigator().marks();
    if (marks.empty()) return;
    listed->push_back(menu.addSeparator());
    for (std::size_t i = 0; i < marks.size(); ++i)
      listed->push_back(menu.addAction(words_of_mark(marks[i], timeline.session(), menu.fontMetrics()), &timeline,
                                       [&timeline, i] { timeline.navigator().go_to_mark(i); }));
  });
}

}  // namespace rankscope::gui
