// What is selected, as text to paste.
#pragma once

#include <QAbstractItemModel>
#include <QObject>

#include "rankscope/gui/models/details/details_model.h"
#include "rankscope/gui/models/statistics/statistics_model.h"

namespace rankscope::gui {

/// Header and rows with their names, cells separated by tabs; of the given rows only, or of all where none is given.
[[nodiscard]] QString table_text(const QAbstractItemModel& model, const QModelIndexList& rows = {});

/// An event with all that is known of it, told at once; of a stretch of time what took it, by rank and by name, told
/// when that is computed.
class SelectionText : public QObject {
  Q_OBJECT

 public:
  explicit SelectionText(Session& session, QObject* parent = nullptr);

  /// `made` follows, unless nothing is selected. The newest question counts.
  void ask();

 Q_SIGNALS:
  void made(const QString& text);

 private:
  void deliver();
  [[nodiscard]] QString event_text() const;

  Session& session_;
  Statistics statistics_;
  RankTimesModel ranks_;
  NameTimesModel names_;
  bool asked_ = false;
};

}  // namespace rankscope::gui
