// view: exit statuses. What the viewer shows is tested in tests/gui.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "cli/demo.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProgramResult;

ProgramResult view(std::vector<std::string> words, const std::vector<std::string>& environment = {}) {
  words.insert(words.begin(), {RANKSCOPE_PROGRAM, "view"});
  return testing::run_program(words, environment);
}

/// Both where the viewer was not built and where no display answers, the way out is named.
TEST(ViewVerb, EndsWithStatus5AndAWayOutWhereNoWindowCanBeOpened) {
  const ProgramResult refused = view({demo}, {"DISPLAY=:4711", "QT_QPA_PLATFORM=xcb", "WAYLAND_DISPLAY="});
  EXPECT_EQ(refused.status, 5);
  EXPECT_THAT(refused.err, HasSubstr("rankscope report RUN --html page.html"));
}

#ifdef RANKSCOPE_HAS_VIEWER
TEST(ViewVerb, OpensTheEmptyWindowWithoutARun) {
  const ProgramResult refused = view({}, {"DISPLAY=:4711", "QT_QPA_PLATFORM=xcb", "WAYLAND_DISPLAY="});
  EXPECT_EQ(refused.status, 5) << "the viewer was started, and found no display";
  EXPECT_THAT(refused.err, HasSubstr("did not find a display"));
}

TEST(ViewVerb, RefusesWrongOptionsWithStatus2) {
  EXPECT_EQ(view({"--ranks", "1"}).status, 2);
  EXPECT_THAT(view({"--ranks", "1"}).err, HasSubstr("--ranks needs a RUN"));
  EXPECT_THAT(view({"--session", "x"}).err, HasSubstr("--session needs a RUN"));
  EXPECT_THAT(view({demo, "--at", "soon"}).err, HasSubstr("'soon' must be a time such as 1.5s"));
  EXPECT_EQ(view({demo, "--at", "soon"}).status, 2);
  EXPECT_EQ(view({demo, "--ranks", "x"}).status, 2);
}

TEST(ViewVerb, WritesAPictureWithoutADisplay) {
  const testing::TemporaryFolder folder;
  const std::string file = (folder / "run.png").string();
  const ProgramResult drawn = view({demo, "--picture", file, "--size", "800x600", "--ranks", "2", "--at", "1.7s"},
                                   {"DISPLAY=", "WAYLAND_DISPLAY="});
  EXPECT_EQ(drawn.status, 0) << drawn.err;
  EXPECT_THAT(drawn.err, ::testing::HasSubstr("rankscope: wrote " + file + " ("));
  const std::string png = testing::read_file(file);
  ASSERT_GT(png.size(), 24U);
  EXPECT_EQ(png.substr(1, 3), "PNG");
  const auto number = [&png](std::size_t at) {
    return static_cast<unsigned char>(png[at]) * 256 + static_cast<unsigned char>(png[at + 1]);
  };
  EXPECT_EQ(number(18), 800);
  EXPECT_EQ(number(22), 600);
}

/// No rank is cut off unless a size was asked for; then a line says so.
TEST(ViewVerb, ThePictureIsAsHighAsItsRows) {
  const testing::TemporaryFolder folder;
  const auto drawn = [&folder](const char* name, const std::vector<std::string>& more) {
    std::vector<std::string> words{demo, "--picture", (folder / name).string()};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult done = view(words);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.err;
  };
  EXPECT_THAT(drawn("all.png", {}), Not(HasSubstr("show all rows")));
  const std::string missing = drawn("low.png", {"--size", "1600x600"});
  std::smatch size;
  ASSERT_TRUE(std::regex_search(missing, size, std::regex{"does not show all rows; --size (1600x([0-9]+)) does\n"}));
  const int height = std::stoi(size[2]);
  EXPECT_THAT(drawn("asked.png", {"--size", size[1].str()}), Not(HasSubstr("show all rows")));
  const std::string all = testing::read_file(folder / "all.png");
  EXPECT_TRUE(all == testing::read_file(folder / "asked.png"));
  ASSERT_GT(all.size(), 24U);
  EXPECT_EQ(static_cast<unsigned char>(all[22]) * 256 + static_cast<unsigned char>(all[23]), height);
  EXPECT_GT(height, 900);
  const std::string one = drawn("one.png", {"--ranks", "2"});
  EXPECT_THAT(one, Not(HasSubstr("show all rows")));
  EXPECT_EQ(testing::read_file(folder / "one.png").substr(22, 2), std::string("\x03\x84"));  // 900: not lower
}

/// Panels that were open do not get into the picture.
TEST(ViewVerb, ThePictureIsOfTheViewThatWasKept) {
  const testing::TemporaryFolder folder;
  const auto drawn = [&folder](const char* name, const char* range) {
    std::ofstream{folder / "view"}
        << R"({"schema": "rankscope.view/1", "recording": {"source": "rankscope", "ranks": 4,)"
        << R"("origin_unix_ns": 1795231901457019619}, "visible": )" << range
        << R"(, "pinned": [], "marks": [], "ranks": [2], "colour": "lateness",)"
        << R"("critical_path": true, "row_height": 20, "panels": ["findings", "details"]})";
    const std::string file = (folder / name).string();
    const ProgramResult done =
        view({demo, "--picture", file, "--size", "640x400", "--session", (folder / "view").string()});
    EXPECT_EQ(done.status, 0) << done.err;
    return testing::read_file(file);
  };
  const std::string early = drawn("early.png", R"({"begin_ns": 500000000, "end_ns": 600000000})");
  const std::string late = drawn("late.png", R"({"begin_ns": 1500000000, "end_ns": 1600000000})");
  ASSERT_GT(early.size(), 24U);
  EXPECT_FALSE(early == late);                              // in one word: nobody reads their bytes
  EXPECT_EQ(early.substr(18, 2), std::string("\x02\x80"));  // 640
  EXPECT_EQ(early.substr(22, 2), std::string("\x01\x90"));  // 400
}

TEST(ViewVerb, SaysWhyThereIsNoPicture) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(view({demo, "--picture", "run.bmp"}).status, 2);
  for (const char* const size : {"big", "800", "800x", "800x600x2", "800x 600", "1600x16001"})
    EXPECT_EQ(view({demo, "--picture", "run.png", "--size", size}).status, 2) << size;
  const ProgramResult twice = view({demo, "--picture", "run.png", "--rank-map", "a=1,a=2"});
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.err, HasSubstr("--rank-map: a is given twice"));
  const ProgramResult nobody = view({demo, "--picture", (folder / "nobody.png").string(), "--ranks", "1,99"});
  EXPECT_EQ(nobody.status, 2);
  EXPECT_THAT(nobody.err, HasSubstr("--ranks: the recording has no rank 99; its ranks are 0 to 3"));
  EXPECT_FALSE(std::filesystem::exists(folder / "nobody.png"));
  EXPECT_EQ(view({demo, "--picture", (folder / "no/such.png").string()}).status, 5);
  std::ofstream{folder / "broken.json"} << "nothing";
  const ProgramResult refused = view({(folder / "broken.json").string(), "--picture", (folder / "x.png").string()});
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, HasSubstr("broken.json"));
}

TEST(ViewVerb, TakesTwoRunsForAComparisonOfOneView) {
  EXPECT_EQ(view({demo, demo, "--picture", "x.png"}).status, 2);
  EXPECT_THAT(view({demo, "--compare", demo, "--picture", "x.png"}).err,
              HasSubstr("--picture and --session take one run"));
  EXPECT_EQ(view({demo, "--compare", "no/such.rankscope"}).status, 3);
}

TEST(ViewVerb, EndsWithStatus3WhereThereIsNoFile) {
  const ProgramResult refused = view({"no/such.rankscope"});
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, HasSubstr("no/such.rankscope: no such file or folder"));
}
#endif

}  // namespace
}  // namespace rankscope
