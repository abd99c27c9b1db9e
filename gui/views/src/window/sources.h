// What is opened, by names of files; those of late are kept.
#pragma once

#include <QStringList>

#include "rankscope/gui/models/session/loader.h"

namespace rankscope::gui {

[[nodiscard]] inline Source source_of(const QStringList& names) {
  Source source;
  for (const QString& name : names) source.paths.emplace_back(name.toStdString());
  return source;
}

/// The newest first.
[[nodiscard]] QStringList recent_names();
/// Puts it first.
void note_recent(const QString& name);
void forget_recent(const QString& name);

}  // namespace rankscope::gui
