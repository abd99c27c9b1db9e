#include "search/search_count.h"

#include <QLocale>
#include <algorithm>

namespace rankscope::gui {

SearchCount::SearchCount(Session& session, QWidget* parent)
    : QLabel(parent), session_(session), model_(session, nullptr, SearchModel::Text::filter) {
  setObjectName(QStringLiteral("search_count"));
  setMargin(4);
  connect(&session, &Session::filterChanged, this, &SearchCount::show_count);
  connect(&model_, &SearchModel::found, this, &SearchCount::show_count);
  connect(&session, &Session::selectionChanged, this, &SearchCount::show_count);
}

void SearchCount::show_count() {
  if (model_.busy()) return setText(QStringLiteral("..."));
  const SearchResult& result = model_.result();
  const QLocale english{QLocale::English};
  const auto here =
      session_.selection() ? std::ranges::find(result.listed, *session_.selection()) : result.listed.end();
  const QString count = english.toString(qulonglong{result.hits});
  QString text;
  if (here != result.listed.end() && result.hits <= result.listed.size())
    text = tr("hit %1 of %2").arg(english.toString(qlonglong{here - result.listed.begin() + 1}), count);
  else if (result.hits > 0)
    text = result.hits == 1 ? tr("1 hit") : tr("%1 hits").arg(count);
  else if (!model_.summary().isEmpty())
    text = tr("no match");
  wrong_.set(result.hits == 0);
  setText(text);
  setToolTip(model_.summary());
  setAccessibleDescription(model_.summary());
}

}  // namespace rankscope::gui
