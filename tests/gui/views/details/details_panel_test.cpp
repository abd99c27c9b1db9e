// The panel of the selected event.
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QPushButton>
#include <QTableView>

#include "gui/runs.h"
#include "gui/views/pictures.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/views/registry.h"

namespace rankscope::gui {
namespace {

TEST(DetailsPanel, ShowsTheMembersOfACollectiveAndCopiesThemAsText) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_details_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  testing::paint(*panel, {420, 300}, QStringLiteral("details_nothing"));
  auto* const copy = panel->findChild<QPushButton*>(QStringLiteral("details_copy"));
  EXPECT_FALSE(copy->isEnabled());
  session.select(testing::nth_span(*session.run(), RankId{0}, SpanKind::comm, 5));
  testing::paint(*panel, {420, 560}, QStringLiteral("details"));
  EXPECT_EQ(panel->findChild<QTableView*>(QStringLiteral("members_table"))->model()->rowCount(), 4);
  copy->click();
  EXPECT_TRUE(QApplication::clipboard()->text().contains(QStringLiteral("Rank 2 arrived last")));
}

/// As NCCL and PyTorch name the arguments of a collective.
TEST(DetailsPanel, ValuesKeepTheirRoomBesideLongNamesOfProperties) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_details_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(
      session,
      *run_from_text(
          "0 compute 0 100 \"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)\" "
          "process_group_description_of_the_communicator=default_pg queued_input_tensor_start_addresses=7\n")));
  session.select(SpanId{0});
  testing::paint(*panel, {260, 560}, QStringLiteral("details_nccl"));
  QCoreApplication::processEvents();
  const auto* const table = panel->findChild<QTableView*>(QStringLiteral("details_table"));
  ASSERT_GT(table->model()->rowCount(), 4);
  EXPECT_GE(table->columnWidth(1), table->viewport()->width() / 2);
  const int line = table->fontMetrics().height();
  EXPECT_GE(table->rowHeight(0), 3 * line) << "the whole name of the kernel";
}

TEST(DetailsPanel, GoesToAMemberThatIsClicked) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_details_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  session.select(testing::nth_span(*session.run(), RankId{0}, SpanKind::comm, 5));
  testing::paint(*panel, {420, 560}, QStringLiteral("details_before_click"));
  auto* const members = panel->findChild<QTableView*>(QStringLiteral("members_table"));
  const QPoint first = members->visualRect(members->model()->index(0, 0)).center();
  QTest::mouseClick(members->viewport(), Qt::LeftButton, {}, first);
  EXPECT_EQ(session.run()->lane(session.run()->span(*session.selection()).lane).rank, RankId{2});
}

}  // namespace
}  // namespace rankscope::gui
