// Pictures of the timeline.
#include <gmock/gmock.h>

#include <QImage>

#include "gui/runs.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/picture_file.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

using ::testing::HasSubstr;

struct Painted {
  Session session;
  TimelineView view{session};

  Painted() {
    view.resize(900, 500);
    view.show();
    EXPECT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
    EXPECT_TRUE(testing::comes_true([this] { return view.model().facts()->report_fits && view.is_up_to_date(); }));
  }
};

TEST(PictureFile, APngIsWhatIsOnTheScreen) {
  const testing::TemporaryFolder folder;
  Painted shown;
  const QString name = QString::fromStdString((folder / "view.png").string());
  ASSERT_TRUE(save_picture(shown.view, folder / "view.png"));
  const QImage picture{name};
  EXPECT_EQ(picture.size(), shown.view.picture_size());
  const QImage screen = shown.view.grab().toImage().convertToFormat(picture.format());
  int others = 0;
  for (int y = 70; y < 490; y += 3)  // below the ruler, inside the rim of the focus
    for (int x = 195; x < picture.width() - 4; x += 3) others += picture.pixel(x, y) != screen.pixel(x, y) ? 1 : 0;
  EXPECT_EQ(others, 0);
}

#ifdef RANKSCOPE_HAS_SVG
TEST(PictureFile, AnSvgKeepsWordsAsText) {
  const testing::TemporaryFolder folder;
  Painted shown;
  ASSERT_TRUE(save_picture(shown.view, folder / "view.svg"));
  const std::string drawing = testing::read_file(folder / "view.svg");
  EXPECT_THAT(drawing, HasSubstr("<svg width="));
  EXPECT_THAT(drawing, HasSubstr(">rank 2</text>"));
  EXPECT_THAT(drawing, HasSubstr(">step 3</text>"));
  EXPECT_THAT(drawing, HasSubstr("</svg>"));
}
#endif

TEST(PictureFile, RefusesOtherNames) {
  Painted shown;
  const auto saved = save_picture(shown.view, "view.bmp");
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, ErrorKind::usage);
  EXPECT_THAT(saved.error().message, HasSubstr("view.bmp: the name of a picture must end in .png or .svg"));
}

TEST(PictureFile, SaysWhereItCannotBeWritten) {
  Painted shown;
  const auto saved = save_picture(shown.view, "no/such/folder/view.png");
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, ErrorKind::cannot_write);
}

}  // namespace
}  // namespace rankscope::gui
