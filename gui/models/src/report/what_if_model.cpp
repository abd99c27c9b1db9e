#include "rankscope/gui/models/report/what_if_model.h"

#include <QRegularExpression>
#include <algorithm>
#include <utility>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

QString meaning_of(const QString& text) {
  const QString word = text.section(QLatin1Char{':'}, 0, 0).section(QLatin1Char{'*'}, 0, 0);
  for (const analyzer::FixInfo& info : analyzer::fix_infos()) {
    const QString form = qt_text(info.form);
    if (form.section(QLatin1Char{':'}, 0, 0).section(QLatin1Char{'*'}, 0, 0) == word)
      return qt_text(info.meaning)
          .replace(QRegularExpression{QStringLiteral("^rank R\\b")},
                   QStringLiteral("rank ") + text.section(QLatin1Char{':'}, 1));
  }
  return {};
}

/// Of the forms those that can be chosen as they stand.
bool is_complete(std::string_view form) { return form.find_first_of(":*") == std::string_view::npos; }

QString gain_text(std::int64_t before, std::int64_t after) {
  if (before <= 0) return {};
  const double share = static_cast<double>(before - after) / static_cast<double>(before);
  return WhatIfModel::tr("%1\n(%2)").arg(time_text(nanoseconds{before - after}), percent_text(share));
}

QString headline(const analyzer::WhatIfAnswer& answer) {
  const QString what = answer.steps.empty() ? WhatIfModel::tr("The whole recording") : WhatIfModel::tr("A step");
  const std::int64_t before = answer.unchanged.mean_ns;
  const std::int64_t after = answer.together.mean_ns;
  if (before == after)
    return WhatIfModel::tr("%1 would take %2, as it does now.").arg(what, time_text(nanoseconds{after}));
  const double share = static_cast<double>(before - after) / static_cast<double>(before);
  return WhatIfModel::tr("%1 would take %2 instead of %3: %4 %5.")
      .arg(what, time_text(nanoseconds{after}), time_text(nanoseconds{before}),
           percent_text(share < 0 ? -share : share), share > 0 ? WhatIfModel::tr("less") : WhatIfModel::tr("more"));
}

}  // namespace

WhatIfModel::WhatIfModel(Session& session, QObject* parent)
    : TableModel({{tr("Fix")},
                  {tr("Change"), tr("What would change")},
                  {tr("Saves"), tr("How much shorter a step would be with this fix alone")}},
                 parent),
      session_(session) {
  connect(&session, &Session::reportChanged, this, &WhatIfModel::reload);
  connect(&session, &Session::runOpened, this, &WhatIfModel::reload);
  reload();
}

void WhatIfModel::reload() {
  job_.cancel();
  beginResetModel();
  rows_.clear();
  added_.clear();
  const auto& report = session_.report();
  if (report != nullptr && report->what_if) {
    if (report->stragglers)
      for (const analyzer::Straggler& slow : report->stragglers->rows) {
        const QString text = qt_text(format("rank:{}", slow.rank.value));
        if (std::ranges::find(rows_, text, &Row::text) == rows_.end()) rows_.push_back({text, meaning_of(text)});
      }
    for (const analyzer::FixInfo& info : analyzer::fix_infos())
      if (is_complete(info.form)) rows_.push_back({qt_text(info.form), qt_text(info.meaning)});
  }
  endResetModel();
  if (report == nullptr) return say(tr("Fixes can be chosen as soon as the report is ready."), {});
  if (!report->what_if) return say(qt_text(report->what_if.error().why), {});
  say(tr("Choose fixes to see how long a step would take."), {});
}

void WhatIfModel::say(const QString& summary, const QString& doubts) {
  summary_ = summary;
  doubts_ = doubts;
  Q_EMIT answered();
}

void WhatIfModel::add(const QString& text) {
  const QString fix_text = text.trimmed();
  if (fix_text.isEmpty() || session_.report() == nullptr || !session_.report()->what_if) return;
  const auto known = std::ranges::find(rows_, fix_text, &Row::text);
  if (known != rows_.end()) {
    setData(index(static_cast<int>(known - rows_.begin()), fix), Qt::Checked, Qt::CheckStateRole);
    return Q_EMIT added();
  }
  beginInsertRows({}, rowCount(), rowCount());
  rows_.push_back({fix_text, meaning_of(fix_text), true});
  endInsertRows();
  added_ = fix_text;
  ask();
}

void WhatIfModel::ask() {
  std::vector<std::string> fixes;
  for (Row& row : rows_) {
    row.gain.clear();
    if (row.chosen) fixes.push_back(row.text.toStdString());
  }
  if (!rows_.empty()) Q_EMIT dataChanged(index(0, gain), index(rowCount() - 1, gain));
  if (fixes.empty()) {
    job_.cancel();
    return say(tr("Choose fixes to see how long a step would take."), {});
  }
  say(tr("Computing..."), {});
  job_.start([this, fixes, recorded = session_.recorded()](const std::stop_token&) -> LatestJob::Delivery {
    Answer answer = analyzer::what_if(*recorded, {}, fixes);
    return [this, fixes, answer = std::move(answer)] { take(fixes, answer); };
  });
}

void WhatIfModel::take(const std::vector<std::string>& fixes, const Answer& answer) {
  const QString newest = std::exchange(added_, {});
  if (!answer) {
    const auto wrong = std::ranges::find(rows_, newest, &Row::text);
    if (!newest.isEmpty() && wrong != rows_.end() && answer.error().kind == ErrorKind::usage) {
      const int row = static_cast<int>(wrong - rows_.begin());
      beginRemoveRows({}, row, row);
      rows_.erase(wrong);
      endRemoveRows();
      ask();
      QString why = QString::fromStdString(answer.error().message);
      if (const QString option = QStringLiteral("--fix "); why.startsWith(option)) why.remove(0, option.size());
      return Q_EMIT refused(why);
    }
    return say(QString::fromStdString(answer.error().message), {});
  }
  if (!newest.isEmpty()) Q_EMIT added();
  for (std::size_t i = 0; i < fixes.size(); ++i) {
    const auto row = std::ranges::find(rows_, QString::fromStdString(fixes[i]), &Row::text);
    const analyzer::Prediction& alone = answer->alone.empty() ? answer->together : answer->alone[i];
    if (row != rows_.end()) row->gain = gain_text(answer->unchanged.mean_ns, alone.mean_ns);
  }
  Q_EMIT dataChanged(index(0, gain), index(rowCount() - 1, gain));
  QStringList doubts{
      tr("Without a fix, the replay differs from the recording by %1.").arg(percent_text(answer->replay_error))};
  for (const std::string& doubt : answer->doubts) doubts.append(QString::fromStdString(doubt));
  say(headline(*answer), doubts.join(QLatin1Char{' '}));
}

QVariant WhatIfModel::cell(std::size_t row, int column, int role) const {
  const Row& one = rows_[row];
  if (role == Qt::ToolTipRole) return column == gain ? one.gain : one.meaning;
  if (role == Qt::CheckStateRole && column == fix) return one.chosen ? Qt::Checked : Qt::Unchecked;
  if (role != Qt::DisplayRole) return {};
  switch (static_cast<Column>(column)) {
    case fix:
      return one.text;
    case meaning:
      return one.meaning;
    case gain:
      return one.gain;
  }
  return {};
}

bool WhatIfModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid) || role != Qt::CheckStateRole || index.column() != fix)
    return false;
  bool& chosen = rows_[static_cast<std::size_t>(index.row())].chosen;
  const bool wanted = value.toInt() == Qt::Checked;
  if (chosen == wanted) return true;
  chosen = wanted;
  Q_EMIT dataChanged(index, index, {Qt::CheckStateRole});
  ask();
  return true;
}

Qt::ItemFlags WhatIfModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags all = TableModel::flags(index);
  return index.isValid() && index.column() == fix ? all | Qt::ItemIsUserCheckable : all;
}

}  // namespace rankscope::gui
