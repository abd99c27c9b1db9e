// Queries that come with the viewer, and those that the user saved.
#include <QSettings>
#include <algorithm>

#include "rankscope/gui/models/query/query_model.h"

namespace rankscope::gui {
namespace {

const QString settings_group = QStringLiteral("queries");

std::vector<SavedQuery> own_queries() {
  return {{QueryModel::tr("Longest events"),
           QStringLiteral("SELECT id AS span_id, rank, lane, kind, name, duration_ns / 1e6 AS ms\n"
                          "FROM span_list ORDER BY duration_ns DESC LIMIT 100")},
          {QueryModel::tr("Kernels per rank"),
           QStringLiteral("SELECT rank, short_name, sum(count) AS calls, sum(sum_ns) / 1e6 AS ms\n"
                          "FROM kernels GROUP BY rank, short_name ORDER BY ms DESC")},
          {QueryModel::tr("Steps"), QStringLiteral("SELECT step, begin_ns / 1e6 AS begin_ms, wall_ns / 1e6 AS ms\n"
                                                   "FROM steps ORDER BY step")},
          {QueryModel::tr("Waits per rank and operation"),
           QStringLiteral("SELECT collectives.rank, strings.text AS operation, count(*) AS calls,\n"
                          "  sum(wait_ns) / 1e6 AS wait_ms, sum(transfer_ns) / 1e6 AS transfer_ms\n"
                          "FROM collectives JOIN strings ON strings.id = op_id\n"
                          "GROUP BY collectives.rank, operation ORDER BY wait_ms DESC")},
          {QueryModel::tr("Selected events"),
           QStringLiteral("SELECT span_id, rank, lane, name, duration_ns / 1e6 AS ms\n"
                          "FROM selection JOIN span_list ON span_list.id = span_id ORDER BY duration_ns DESC")}};
}

/// Names may have signs that keys of settings cannot have.
QString key_of_query(const QString& name) { return QString::fromLatin1(name.toUtf8().toHex()); }

}  // namespace

std::vector<SavedQuery> saved_queries() {
  std::vector<SavedQuery> all = own_queries();
  QSettings settings;
  settings.beginGroup(settings_group);
  for (const QString& key : settings.childKeys()) {
    const QStringList pair = settings.value(key).toStringList();
    if (pair.size() == 2) all.push_back({pair[0], pair[1]});
  }
  std::ranges::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(own_queries().size()), all.end(), {},
                           &SavedQuery::name);
  return all;
}

void save_query(const SavedQuery& query) {
  QSettings settings;
  settings.beginGroup(settings_group);
  settings.setValue(key_of_query(query.name), QStringList{query.name, query.sql});
}

void remove_query(const QString& name) {
  if (name.isEmpty()) return;  // an empty key would be all of them
  QSettings settings;
  settings.beginGroup(settings_group);
  settings.remove(key_of_query(name));
}

}  // namespace rankscope::gui
