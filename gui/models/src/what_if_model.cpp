#include "rankscope/gui/models/what_if_model.h"

#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/gui/models/words.h"

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

WhatIfModel::WhatIfModel(Session& session, QObject* parent) : QAbstractTableModel(parent), session_(session) {
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
  if (report == nullptr) return say(tr("Fixes can be chosen as soon as the report is made."), {});
  if (!report->what_if) return say(qt_text(report->what_if.error().why), {});
  say(tr("Choose fixes to see what a step would take."), {});
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
    return say(tr("Choose fixes to see what a step would take."), {});
  }
  say(tr("Being computed..."), {});
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
  QStringList doubts{tr("Replayed from the recording, error %1.").arg(percent_text(answer->replay_error))};
  for (const std::string& doubt : answer->doubts) doubts.append(QString::fromStdString(doubt));
  say(headline(*answer), doubts.join(QLatin1Char{' '}));
}

int WhatIfModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
int WhatIfModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QVariant WhatIfModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  if (role == Qt::ToolTipRole) return index.column() == gain ? QVariant{row.gain} : QVariant{row.meaning};
  if (role == Qt::CheckStateRole && index.column() == fix) return row.chosen ? Qt::Checked : Qt::Unchecked;
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) return {};
  switch (static_cast<Column>(index.column())) {
    case fix:
      return row.text;
    case meaning:
      return row.meaning;
    case gain:
      return row.gain;
    case column_count:
      break;
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
  const Qt::ItemFlags all = QAbstractTableModel::flags(index);
  return index.isValid() && index.column() == fix ? all | Qt::ItemIsUserCheckable : all;
}

QVariant WhatIfModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count) return {};
  if (role == Qt::ToolTipRole && section == meaning) return tr("What would change");
  if (role == Qt::ToolTipRole && section == gain) return tr("What a step would take less with this fix alone");
  if (role != Qt::DisplayRole) return {};
  const std::array<QString, column_count> names{tr("Fix"), tr("Change"), tr("Gain")};
  return names[static_cast<std::size_t>(section)];
}

}  // namespace rankscope::gui
