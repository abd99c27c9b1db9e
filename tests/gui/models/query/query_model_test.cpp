// SQL over the tables of the run that is open.
#include "rankscope/gui/models/query/query_model.h"

#include <gtest/gtest.h>

#include "gui/model_tester.h"
#include "gui/waiting.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"

namespace rankscope::gui {
namespace {

struct AskedQuery {
  Session session;
  QueryModel model{session};
  QAbstractItemModelTester tester{&model, fatal};

  AskedQuery() {
    session.show(*run_from_text("0 compute 0 100 gemm\n0 compute 200 500 gemm\n1 compute 0 30 relu\n"));
    EXPECT_TRUE(testing::becomes_ready(session));
  }
  /// What is said of the query when it is answered.
  QString ask(const char* sql) {
    model.ask(QString::fromLatin1(sql));
    EXPECT_TRUE(testing::comes_true([this] { return !model.busy(); }));
    return model.summary();
  }
};

TEST(QueryModel, ShowsTheRowsOfAQueryAndLeadsToTheEventsInThem) {
  AskedQuery asked;
  EXPECT_EQ(asked.ask("SELECT id AS span_id, name FROM span_list ORDER BY duration_ns DESC"), QStringLiteral("3 rows"));
  EXPECT_EQ(asked.model.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("name"));
  EXPECT_EQ(asked.model.index(0, 1).data().toString(), QStringLiteral("gemm"));
  asked.model.go_to(0);
  ASSERT_TRUE(asked.session.selection());
  EXPECT_EQ(asked.session.run()->span(*asked.session.selection()).time, (TimeRange{at(200), at(500)}));
  EXPECT_EQ(asked.ask("SELECT count(*) FROM selection"), QStringLiteral("1 row"));
  EXPECT_EQ(asked.model.index(0, 0).data().toString(), QStringLiteral("1"));
  asked.session.select_area(Area{{at(0), at(150)}, {LaneId{0}, LaneId{1}}});
  asked.ask("SELECT count(*) FROM selection");
  EXPECT_EQ(asked.model.index(0, 0).data().toString(), QStringLiteral("2"));
}

TEST(QueryModel, SaysWhatIsWrongWithAQuery) {
  AskedQuery asked;
  EXPECT_EQ(asked.ask("SELECT missing FROM spans"), QStringLiteral("no such column: missing"));
  EXPECT_TRUE(asked.model.is_wrong());
  EXPECT_EQ(asked.model.rowCount(), 0);
  EXPECT_EQ(asked.ask("SELECT 1"), QStringLiteral("1 row"));
  EXPECT_FALSE(asked.model.is_wrong());
}

TEST(QueryModel, EveryQueryThatComesWithTheViewerCanBeRun) {
  AskedQuery asked;
  const auto queries = saved_queries();
  ASSERT_GE(queries.size(), 5U);
  for (const SavedQuery& query : queries) {
    asked.ask(query.sql.toUtf8().constData());
    EXPECT_FALSE(asked.model.is_wrong()) << query.name.toStdString() << ": " << asked.model.summary().toStdString();
  }
}

TEST(SavedQueries, AreKeptUntilTheyAreRemoved) {
  const std::vector<SavedQuery> before = saved_queries();
  const SavedQuery own{QStringLiteral("my query/1 = ü"), QStringLiteral("SELECT 1,\n2")};
  save_query(own);
  ASSERT_EQ(saved_queries().size(), before.size() + 1);
  EXPECT_EQ(saved_queries().back(), own);
  save_query({own.name, QStringLiteral("SELECT 3")});
  EXPECT_EQ(saved_queries().back().sql, QStringLiteral("SELECT 3"));
  remove_query({});
  EXPECT_EQ(saved_queries().size(), before.size() + 1) << "nothing was named";
  remove_query(own.name);
  EXPECT_EQ(saved_queries(), before);
}

}  // namespace
}  // namespace rankscope::gui
