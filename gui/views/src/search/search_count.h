// How often the timeline has what is searched for.
#pragma once

#include <QLabel>

#include "base/shades.h"
#include "rankscope/gui/models/search/search_model.h"

namespace rankscope::gui {

/// "hit 3 of 1,204", "1,204 hits", "no match"; nothing while nothing is searched for. The tooltip says of what.
class SearchCount : public QLabel {
  Q_OBJECT

 public:
  explicit SearchCount(Session& session, QWidget* parent = nullptr);

 private:
  void show_count();

  Session& session_;
  SearchModel model_;
  WrongText wrong_{*this};
};

}  // namespace rankscope::gui
