#include "window/sources.h"

#include <QSettings>

namespace rankscope::gui {
namespace {

constexpr int most_recent = 10;
const QString recent_key = QStringLiteral("recent");

}  // namespace

QStringList recent_names() { return QSettings{}.value(recent_key).toStringList(); }

void forget_recent(const QString& name) {
  QStringList recent = recent_names();
  recent.removeAll(name);
  QSettings{}.setValue(recent_key, recent);
}

void note_recent(const QString& name) {
  forget_recent(name);
  QStringList recent = recent_names();
  recent.prepend(name);
  QSettings{}.setValue(recent_key, QStringList{recent.mid(0, most_recent)});
}

}  // namespace rankscope::gui
