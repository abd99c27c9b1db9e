// A file of a recording opens the recording.
#include <gtest/gtest.h>

#include <fstream>

#include "gui/waiting.h"
#include "rankscope/gui/models/session/loader.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;

TEST(WholeRecordings, AManifestOrSegmentStandsForItsRecordingOnce) {
  const fs::path sample = fs::canonical(RANKSCOPE_SAMPLES "/demo.rankscope");
  std::vector<fs::path> files{sample / "manifest.json"};
  for (const auto& segment : fs::directory_iterator{sample / "segments"}) files.push_back(segment.path());
  ASSERT_GT(files.size(), 2U);
  EXPECT_EQ(with_whole_recordings({.paths = files}).paths, std::vector{sample});
  Session session;
  session.open({.paths = files});
  ASSERT_TRUE(testing::becomes_ready(session));
  EXPECT_EQ(session.source().paths, std::vector{sample});
}

TEST(WholeRecordings, OtherFilesStayWhatTheyAre) {
  const testing::TemporaryFolder folder;
  std::ofstream{folder / "manifest.json"} << "{}";
  const std::vector<fs::path> files{folder / "manifest.json", folder / "trace.json",
                                    RANKSCOPE_SAMPLES "/demo.rankscope"};
  EXPECT_EQ(with_whole_recordings({.paths = files}).paths, files);
}

}  // namespace
}  // namespace rankscope::gui
