#include "rankscope/gui/models/first_look.h"

#include "rankscope/gui/models/words.h"

namespace rankscope::gui {

QString why_not_at(const Session& session, nanoseconds since_begin) {
  if (since_begin <= session.extent().length()) return {};
  return QObject::tr("--at: the run ends %1 after its start, before %2")
      .arg(time_text(session.extent().length()), time_text(since_begin));
}

void look_at(Session& session, nanoseconds since_begin) {
  const auto look = [&session, since_begin] {
    constexpr nanoseconds half{50'000'000};
    const RunTime middle = session.extent().begin + since_begin;
    session.set_visible({middle - half, middle + half});
  };
  look();
  if (session.report() != nullptr) return;
  auto* const watch = new QObject(&session);
  const auto end = [&session, watch] {
    QObject::disconnect(&session, nullptr, watch, nullptr);
    watch->deleteLater();
  };
  // Where there is a report, it is what has moved the view.
  QObject::connect(&session, &Session::visibleRangeChanged, watch, [&session, end] {
    if (session.report() == nullptr) end();
  });
  QObject::connect(&session, &Session::reportChanged, watch, [look, end] {
    end();
    look();
  });
  QObject::connect(&session, &Session::runOpened, watch, end);
}

}  // namespace rankscope::gui
