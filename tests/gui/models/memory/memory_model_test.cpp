// Memory over the visible range.
#include <gtest/gtest.h>

#include <QSignalSpy>

#include "gui/model_tester.h"
#include "gui/runs.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/memory/memory_model.h"

namespace rankscope::gui {
namespace {

constexpr const char* memory_of_two_ranks =
    "@lane 0 main kind=thread number=1\n@lane 1 main kind=thread number=1\n"
    "0 step 0 1000 step index=0\n0 step 1000 2000 step index=1\n0 op 100 900 aten::mm\n0 op 1200 1300 aten::cat\n"
    "1 step 0 1000 step index=0\n1 step 1000 2000 step index=1\n1 op 100 900 aten::mm\n"
    "0 mark 200 [memory] bytes=5000 address=1 allocated_bytes=5000 \"Device Type\"=0 lane=main\n"
    "0 mark 1250 [memory] bytes=4000 address=2 allocated_bytes=9000 \"Device Type\"=0 lane=main\n"
    "0 mark 1400 [memory] bytes=-4000 address=2 allocated_bytes=5000 \"Device Type\"=0 lane=main\n"
    "1 mark 300 [memory] bytes=3000 address=1 allocated_bytes=3000 \"Device Type\"=0 lane=main\n"
    "0 counter 100 70000 rss_bytes\n0 counter 1500 90000 rss_bytes\n";

struct ShownMemory {
  Session session;
  MemoryModel model{session};
  QAbstractItemModelTester tester{&model, fatal};

  explicit ShownMemory(std::shared_ptr<const Run> run = *run_from_text(memory_of_two_ranks)) {
    model.set_active(true);
    EXPECT_TRUE(testing::shows(session, std::move(run)));
    EXPECT_TRUE(testing::comes_true([this] { return !model.busy(); }));
  }
  QString text(int row, MemoryModel::Column column) const { return model.index(row, column).data().toString(); }
};

TEST(MemoryModel, HasARowPerRankWithItsPeakInSight) {
  ShownMemory shown;
  EXPECT_EQ(shown.model.choices(),
            (QStringList{QStringLiteral("allocated on the host"), QStringLiteral("resident on the host")}));
  ASSERT_EQ(shown.model.rowCount(), 2);
  EXPECT_EQ(shown.text(0, MemoryModel::rank), QStringLiteral("rank 0"));
  EXPECT_EQ(shown.text(0, MemoryModel::peak), QStringLiteral("9.00 kB"));
  EXPECT_EQ(shown.text(0, MemoryModel::step), QStringLiteral("1"));
  EXPECT_EQ(shown.text(0, MemoryModel::where), QStringLiteral("aten::cat"));
  EXPECT_EQ(shown.model.highest(), 9000);
  shown.session.set_visible({at(0), at(1000)});
  EXPECT_EQ(shown.text(0, MemoryModel::peak), QStringLiteral("5.00 kB"));
  EXPECT_EQ(shown.text(0, MemoryModel::where), QStringLiteral("aten::mm"));
  EXPECT_TRUE(shown.text(0, MemoryModel::run_peak).startsWith(QStringLiteral("9.00 kB, step 1")))
      << shown.text(0, MemoryModel::run_peak).toStdString();
}

TEST(MemoryModel, CountsWhatWasThereWhenTheRangeBeganUnlessItIsSampled) {
  ShownMemory shown;
  shown.session.set_visible({at(1600), at(1900)});
  EXPECT_EQ(shown.text(0, MemoryModel::peak), QStringLiteral("5.00 kB"));
  shown.model.set_choice(1);
  ASSERT_EQ(shown.model.rowCount(), 1);
  EXPECT_EQ(shown.text(0, MemoryModel::peak), QStringLiteral("no sample"));
  EXPECT_TRUE(shown.model.caption().contains(QStringLiteral("samples")));
}

TEST(MemoryModel, GoesToThePeakAndSelectsWhatAllocatedThere) {
  ShownMemory shown;
  const QSignalSpy revealed{&shown.session, &Session::revealRequested};
  shown.model.go_to_peak(0);
  ASSERT_TRUE(shown.session.selection());
  EXPECT_EQ(shown.session.run()->text(shown.session.run()->span(*shown.session.selection()).name), "aten::cat");
  EXPECT_EQ(revealed.front().front().value<RankId>(), RankId{0});
  shown.session.set_visible({at(0), at(500)});
  shown.model.go_to_run_peak(0);
  EXPECT_TRUE(shown.session.visible().contains(at(1250)));
}

TEST(MemoryModel, HonoursTheFilterOfRanksAndFollowsTheSelection) {
  ShownMemory shown;
  shown.session.select(testing::nth_span(*shown.session.run(), RankId{1}, SpanKind::op));
  EXPECT_EQ(shown.model.selected_row(), 1);
  shown.session.set_filter({.ranks = {RankId{1}}});
  ASSERT_EQ(shown.model.rowCount(), 1);
  EXPECT_EQ(shown.text(0, MemoryModel::rank), QStringLiteral("rank 1"));
  EXPECT_EQ(shown.model.selected_row(), 0);
}

TEST(MemoryModel, TellsWhatThereWasAtAMoment) {
  ShownMemory shown;
  EXPECT_EQ(shown.model.sentence(0, at(1300)),
            QStringLiteral("rank 0: 9.00 kB at 1.300 µs, step 1, last changed in aten::cat"));
  EXPECT_EQ(shown.model.sentence(1, at(10)), QStringLiteral("rank 1: nothing was recorded before 10 ns"));
}

TEST(MemoryModel, SaysWhyThereIsNothing) {
  Session session;
  MemoryModel model{session};
  EXPECT_EQ(model.why_empty(), QStringLiteral("Open a recording to see its memory."));
  model.set_active(true);
  ASSERT_TRUE(testing::shows(session, *run_from_text("0 op 0 100 mm\n")));
  ASSERT_TRUE(testing::comes_true([&] { return !model.busy(); }));
  EXPECT_TRUE(model.why_empty().startsWith(QStringLiteral("No allocation"))) << model.why_empty().toStdString();
}

TEST(MemoryModel, ReadsNothingWhileNobodySeesIt) {
  Session session;
  MemoryModel model{session};
  ASSERT_TRUE(testing::shows(session, *run_from_text(memory_of_two_ranks)));
  EXPECT_FALSE(model.busy());
  EXPECT_TRUE(model.choices().isEmpty());
}

}  // namespace
}  // namespace rankscope::gui
