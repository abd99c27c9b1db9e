// Efficiency and data quality as tables.
#include <gtest/gtest.h>

#include "gui/model_tester.h"
#include "gui/runs.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/report/report_table.h"

namespace rankscope::gui {
namespace {

TEST(ReportTable, EfficiencyIsTheProductOfItsFactorsAndAllTimeAddsUp) {
  Session session;
  ReportTableModel model{session, {QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c")}, efficiency_rows};
  const QAbstractItemModelTester tester{&model, fatal};
  EXPECT_EQ(model.why_empty({}), QStringLiteral("Nothing is open."));
  session.show(testing::run_with_slow_rank());
  ASSERT_TRUE(testing::becomes_ready(session));
  const auto rows = *efficiency_rows(*session.report());
  ASSERT_EQ(static_cast<std::size_t>(model.rowCount()), rows.size());
  double product = 1;
  double time = 0;
  bool in_ledger = false;
  for (const ReportRow& row : rows) {
    in_ledger = in_ledger || !row.share;
    const auto depth = row.cells.front().size() - row.cells.front().trimmed().size();
    if (!in_ledger && depth == 4) product *= *row.share;
    if (in_ledger && row.share) time += *row.share;
  }
  EXPECT_NEAR(*rows.front().share, product, 1e-9);
  EXPECT_NEAR(time, 1, 1e-9);
}

TEST(ReportTable, QualityListsCountersWithWhatToDoTheWorstFirst) {
  Session session;
  session.show(*run_from_text("@quality events_dropped 12 rank-0.rseg\n@quality names_lost 1\n0 compute 0 10 gemm\n"));
  ASSERT_TRUE(testing::becomes_ready(session));
  const auto rows = *quality_rows(*session.report());
  ASSERT_GE(rows.size(), 2U);
  EXPECT_EQ(rows[0].cells[0], QStringLiteral("events dropped"));
  EXPECT_EQ(rows[0].cells[1], QStringLiteral("12"));
  EXPECT_EQ(rows[0].cells[2], QStringLiteral("data loss"));
  EXPECT_FALSE(rows[0].cells[3].isEmpty());
  EXPECT_TRUE(rows[0].tip.contains(QStringLiteral("rank-0.rseg")));
}

TEST(ReportTable, SaysWhyThereIsNoEfficiency) {
  Session session;
  ReportTableModel model{session, {QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c")}, efficiency_rows};
  session.show(*run_from_text("0 python 0 10 frame\n"));
  ASSERT_TRUE(testing::becomes_ready(session));
  EXPECT_EQ(model.rowCount(), 0);
  EXPECT_FALSE(model.why_empty({}).isEmpty());
}

}  // namespace
}  // namespace rankscope::gui
