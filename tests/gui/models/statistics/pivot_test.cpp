// Events by name, rank and step.
#include "rankscope/gui/models/statistics/pivot.h"

#include <gtest/gtest.h>

#include "gui/model_tester.h"
#include "gui/runs.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/statistics/pivot_model.h"

namespace rankscope::gui {
namespace {

constexpr const char* two_steps =
    "@run world_size=2 clock=same_host clock_error=1\n"
    "0 step 0 1000 step index=0\n0 step 1000 2000 step index=1\n"
    "1 step 0 1000 step index=0\n1 step 1000 2000 step index=1\n"
    "0 compute 0 100 gemm_nt\n0 compute 100 130 gemm_nn\n0 compute 1000 1200 gemm_nt\n0 compute 1300 1310 relu\n"
    "1 compute 0 300 gemm_nt\n1 compute 1000 1100 gemm_nt\n0 op 0 500 aten::gemm_op\n";

std::optional<PivotTable> pivot_of(const Run& run, const PivotQuestion& question) {
  const analyzer::Report report = analyzer::analyze(run, {});
  return pivot(run, &report, question, {});
}

std::vector<std::string> texts(const std::vector<PivotKey>& keys) {
  std::vector<std::string> all;
  for (const PivotKey& key : keys) all.push_back(key.text);
  return all;
}

using Texts = std::vector<std::string>;

TEST(Pivot, SumsKernelsByNameAndRank) {
  const auto run = *run_from_text(two_steps);
  const auto table = pivot_of(*run, {.text = "GEMM", .kind = PivotKind::kernel, .columns = PivotBy::rank});
  ASSERT_TRUE(table);
  EXPECT_EQ(texts(table->rows), (Texts{"gemm_nt", "gemm_nn"})) << "the largest sum first";
  EXPECT_EQ(texts(table->columns), (Texts{"rank 0", "rank 1"}));
  EXPECT_EQ(table->cell(0, 0).sum_ns, 300);
  EXPECT_EQ(table->cell(0, 0).count, 2);
  EXPECT_EQ(table->cell(0, 0).median_ns, 150);
  EXPECT_EQ(table->cell(0, 1).sum_ns, 400);
  EXPECT_EQ(table->cell(0, 1).longest_ns, 300);
  EXPECT_EQ(run->span(table->cell(0, 1).longest).time, (TimeRange{at(0), at(300)}));
  EXPECT_EQ(table->cell(1, 1).count, 0);
  EXPECT_EQ(table->cell(0, 2).sum_ns, 700) << "the last is of all columns";
  EXPECT_EQ(table->all_ns, 730);
}

TEST(Pivot, TellsStepsAndWhatIsOutsideOfThem) {
  const auto run = *run_from_text(std::string{two_steps} + "0 compute 3000 3001 gemm_nt\n");
  const auto table = pivot_of(
      *run, {.kind = PivotKind::kernel, .rows = PivotBy::rank, .columns = PivotBy::step, .ranks = {RankId{0}}});
  ASSERT_TRUE(table);
  EXPECT_EQ(texts(table->rows), (Texts{"rank 0"}));
  EXPECT_EQ(texts(table->columns), (Texts{"step 0", "step 1", "no step"}));
  EXPECT_EQ(table->cell(0, 0).count, 2);
  EXPECT_EQ(table->cell(0, 1).count, 2);
  EXPECT_EQ(table->cell(0, 2).count, 1);
}

TEST(Pivot, CountsEventsThatStartInARange) {
  const auto run = *run_from_text(two_steps);
  const auto table = pivot_of(*run, {.kind = PivotKind::kernel, .time = TimeRange{at(100), at(1300)}});
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->columns.empty());
  EXPECT_EQ(texts(table->rows), (Texts{"gemm_nt", "gemm_nn"}));
  EXPECT_EQ(table->cell(0, 0).sum_ns, 300) << "of both ranks in the second step";
}

TEST(Pivot, EveryKindOfSpanHasAKindOfItsOwnAndSumsAddUp) {
  const auto run = testing::run_with_slow_rank();
  const auto all = pivot_of(*run, {.rows = PivotBy::nothing});
  ASSERT_TRUE(all);
  std::int64_t count = 0;
  for (int kind = 1; kind <= static_cast<int>(PivotKind::other); ++kind)
    for (const auto table = pivot_of(*run, {.kind = static_cast<PivotKind>(kind), .rows = PivotBy::nothing});
         const PivotCell& cell : table->cells)
      count += cell.count;
  ASSERT_EQ(all->cells.size(), 1U);
  EXPECT_EQ(all->cells.front().count, static_cast<std::int64_t>(run->spans().size()));
  EXPECT_EQ(count, all->cells.front().count);
}

TEST(PivotModel, SortsByItsColumnsAndWritesCsv) {
  Session session;
  PivotModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  model.set_columns(PivotBy::rank);
  model.set_kind(PivotKind::kernel);
  model.set_active(true);
  ASSERT_TRUE(testing::shows(session, *run_from_text(two_steps)));
  ASSERT_TRUE(testing::comes_true([&] { return !model.busy() && model.rowCount() == 3; }));
  EXPECT_EQ(model.csv(), QStringLiteral("Name,Total,rank 0,rank 1\n"
                                        "gemm_nt,700,300,400\ngemm_nn,30,30,0\nrelu,10,10,0\n"));
  model.sort(2, Qt::AscendingOrder);
  EXPECT_EQ(model.index(0, 0).data().toString(), QStringLiteral("relu"));
  model.set_value(PivotValue::count);
  EXPECT_EQ(model.index(2, 1).data().toString(), QStringLiteral("4"));
  model.go_to(model.index(2, 3));
  ASSERT_TRUE(session.selection());
  EXPECT_EQ(session.run()->span(*session.selection()).time, (TimeRange{at(0), at(300)}));
  model.look_for(QStringLiteral("nothing has this name"));
  ASSERT_TRUE(testing::comes_true([&] { return !model.busy() && model.rowCount() == 0; }));
  EXPECT_EQ(model.summary(), QStringLiteral("No event in the whole run matches."));
}

TEST(PivotModel, FollowsTheSelectedRange) {
  Session session;
  PivotModel model{session};
  model.set_kind(PivotKind::kernel);
  model.set_scope(PivotModel::Scope::range);
  model.set_active(true);
  ASSERT_TRUE(testing::shows(session, *run_from_text(two_steps)));
  ASSERT_TRUE(testing::comes_true([&] { return !model.busy() && model.rowCount() == 3; }));
  session.select_area(Area{{at(1250), at(1400)}, {LaneId{0}}});
  ASSERT_TRUE(testing::comes_true([&] { return !model.busy() && model.rowCount() == 1; }));
  EXPECT_EQ(model.index(0, 0).data().toString(), QStringLiteral("relu"));
}

}  // namespace
}  // namespace rankscope::gui
