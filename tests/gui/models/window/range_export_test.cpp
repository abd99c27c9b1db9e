// What is in sight, written for other tools and read again.
#include <gtest/gtest.h>

#include <QSignalSpy>

#include "gui/runs.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/window/range_export.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

std::shared_ptr<const Run> three_ranks() {
  return *run_from_text(
      "0 compute 0 1000 early\n0 compute 5000 6000 late\n"
      "1 compute 0 1000 early\n1 compute 5000 6000 late\n"
      "2 compute 0 1000 early\n2 compute 5000 6000 late\n");
}

TEST(RangeExport, WishesWhatIsVisibleOfTheChosenRanks) {
  Session session;
  session.show(three_ranks());
  session.set_visible({at(4000), at(6000)});
  session.set_filter({.ranks = {RankId{1}}});
  const ExportWish wish = wish_of(session, "chrome", "out.json");
  EXPECT_EQ(wish.time, (TimeRange{at(4000), at(6000)}));
  EXPECT_EQ(wish.ranks, std::vector{RankId{1}});
}

TEST(RangeExport, WishesTheSelectedAreaWhereThereIsOne) {
  Session session;
  session.show(three_ranks());
  session.select_area(Area{{at(100), at(200)}, {LaneId{0}, LaneId{2}}});
  const ExportWish wish = wish_of(session, "chrome", "out.json");
  EXPECT_EQ(wish.time, (TimeRange{at(100), at(200)}));
  EXPECT_EQ(wish.ranks, (std::vector{RankId{0}, RankId{2}}));
}

TEST(RangeExport, SaysWhatItWritesWhicheverEventIsSelected) {
  Session session;
  session.show(three_ranks());
  session.set_visible({at(4000), at(6000)});
  session.set_filter({.ranks = {RankId{1}}});
  session.select(SpanId{0});
  EXPECT_EQ(export_title(session), QStringLiteral("Export the visible range: 2.000 µs of rank 1"));
  EXPECT_EQ(wish_of(session, "chrome", "out.json").time, session.visible());
  session.select_area(Area{{at(100), at(200)}, {LaneId{0}, LaneId{2}}});
  EXPECT_EQ(export_title(session), QStringLiteral("Export the selected range: 100 ns of 2 ranks"));
}

TEST(RangeExport, WritesOnlyThatPart) {
  const testing::TemporaryFolder folder;
  RangeExport writer;
  const QSignalSpy done{&writer, &RangeExport::done};
  writer.start(three_ranks(), {"chrome", folder / "part.json", {at(4000), at(6000)}, {RankId{1}}});
  ASSERT_TRUE(testing::comes_true([&] { return done.count() == 1; }));
  const std::string text = testing::read_file(folder / "part.json");
  EXPECT_NE(text.find("late"), std::string::npos);
  EXPECT_EQ(text.find("early"), std::string::npos);
  const auto run = analyzer::open_run(folder / "part.json");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->ranks().size(), 1U);
}

TEST(RangeExport, SaysWhatCannotBeWritten) {
  RangeExport writer;
  QSignalSpy failed{&writer, &RangeExport::failed};
  writer.start(three_ranks(), {"perfetto", "no/such/folder/part.pftrace", {at(0), at(6000)}, {}});
  ASSERT_TRUE(testing::comes_true([&] { return failed.count() == 1; }));
  EXPECT_TRUE(failed.front().front().toString().contains(QStringLiteral("no/such/folder")));
}

TEST(RangeExport, WritesOverNoRecording) {
  const testing::TemporaryFolder folder;
  std::ofstream{folder / "trace.json"} << R"({"schemaVersion": 1, "traceEvents": []})";
  const std::string before = testing::read_file(folder / "trace.json");
  RangeExport writer;
  QSignalSpy failed{&writer, &RangeExport::failed};
  writer.start(three_ranks(), {"chrome", folder / "trace.json", {at(0), at(6000)}, {}});
  ASSERT_TRUE(testing::comes_true([&] { return failed.count() == 1; }));
  EXPECT_TRUE(failed.front().front().toString().contains(QStringLiteral("would be overwritten")));
  EXPECT_EQ(testing::read_file(folder / "trace.json"), before);
}

}  // namespace
}  // namespace rankscope::gui
