// Words in the timeline: names on bars, headers that stay in sight, and labels of arrows that leave the view.
#include <gmock/gmock.h>

#include "gui/views/shown_timeline.h"
#include "rankscope/core/format.h"
#include "rankscope/gui/views/window/picture_file.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

#ifdef RANKSCOPE_HAS_SVG
/// A drawing of what is in sight, in which words are text.
std::string drawing_of(TimelineView& view) {
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(testing::comes_true([&view] { return view.is_up_to_date(); }));
  EXPECT_TRUE(save_picture(view, folder / "view.svg"));
  return testing::read_file(folder / "view.svg");
}

TEST(TimelineWords, KernelsHaveTheirShortNamesOnBars) {
  testing::ShownTimeline shown{
      "0 compute 0 1000000 \"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
      "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)\"\n"};
  const std::string drawing = drawing_of(shown.view);
  EXPECT_THAT(drawing, HasSubstr("FillFunctor · vectorized_elementwise_kernel"));
  EXPECT_THAT(drawing, Not(HasSubstr("at::native")));
}

TEST(TimelineWords, AnArrowThatLeavesTheViewSaysWhereItLeads) {
  std::string text = testing::two_ranks;
  for (int i = 0; i < 50; ++i) text += format("0 python {} {} f{}\n", i * 1000, 2'000'000 - i * 1000, i);
  testing::ShownTimeline shown{text.c_str()};
  shown.view.resize(1200, 200);
  ASSERT_TRUE(testing::comes_true([&] { return shown.view.height() == 200; }));
  const SpanId waited = shown.find(RankId{0}, "allreduce");
  const SpanId last = shown.find(RankId{1}, "allreduce");
  shown.session.go_to(waited);
  ASSERT_TRUE(shown.view.box_of(waited));
  shown.view.reveal(waited);
  ASSERT_GT(shown.view.box_of(last)->top(), shown.view.height()) << "scrolled out of sight";
  EXPECT_THAT(drawing_of(shown.view), HasSubstr("← rank 1 ↓"));
  shown.session.toggle_pin(shown.session.run()->span(last).lane);
  EXPECT_THAT(drawing_of(shown.view), Not(HasSubstr("← rank 1 ↓"))) << "the arrow leads from the pinned copy";
  shown.session.toggle_pin(shown.session.run()->span(last).lane);
  shown.session.set_filter({.ranks = {RankId{0}}});
  EXPECT_THAT(drawing_of(shown.view), HasSubstr("← rank 1 (not shown)"));
}
#endif

TEST(TimelineWords, SaysHowFarReadingIs) {
  Session session;
  TimelineView view{session};
  view.show();
  session.open({.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}});
  EXPECT_EQ(view.accessibleDescription(), QStringLiteral("Reading... 0 %"));
  Q_EMIT session.progressed(0.42);
  EXPECT_EQ(view.accessibleDescription(), QStringLiteral("Reading... 42 %"));
  EXPECT_TRUE(testing::becomes_ready(session));
}

TEST(TimelineWords, TheHeaderOfARankStaysInSightAndCanBeFoldedThere) {
  std::string text;
  for (int i = 0; i < 70; ++i) text += format("0 python {} {} f{}\n", i * 1000, 1'000'000 - i * 1000, i);
  testing::ShownTimeline shown{text.c_str()};
  shown.view.scroll(400);
  constexpr QPoint header{30, 76};
  EXPECT_TRUE(shown.tip(header).startsWith(QStringLiteral("rank 0"))) << shown.tip(header).toStdString();
  QTest::mouseClick(&shown.view, Qt::LeftButton, {}, header);
  EXPECT_TRUE(shown.view.model().tracks().tracks.front().folded);
}

}  // namespace
}  // namespace rankscope::gui
