// A recording that a new one is to replace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "rankscope/core/recording/manifest.h"
#include "rankscope/gui/models/record/previous_recording.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

void make_recording(const fs::path& out, const char* segment) {
  fs::create_directories(out / recording::segment_folder);
  ASSERT_TRUE(recording::write_manifest(out, {}));
  std::ofstream{out / recording::segment_folder / segment} << "x";
}

TEST(PreviousRecording, GoesWhenThereIsANewOne) {
  const TemporaryFolder folder;
  const fs::path out = folder / "run.rankscope";
  make_recording(out, "old.rseg");
  EXPECT_EQ(in_the_way(out), InTheWay::recording);
  auto old = PreviousRecording::move_aside(out);
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(in_the_way(out), InTheWay::nothing);
  make_recording(out, "new.rseg");
  ASSERT_TRUE(old->settle());
  EXPECT_TRUE(fs::exists(out / recording::segment_folder / "new.rseg"));
  EXPECT_EQ(folder.file_count(), 1U) << "nothing is left of the old one";
}

TEST(PreviousRecording, ComesBackWhenThereIsNone) {
  const TemporaryFolder folder;
  const fs::path out = folder / "run.rankscope";
  make_recording(out, "old.rseg");
  auto old = PreviousRecording::move_aside(out);
  ASSERT_TRUE(old);
  ASSERT_TRUE(old->settle());
  EXPECT_TRUE(fs::exists(out / recording::segment_folder / "old.rseg"));
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(PreviousRecording, StaysAsideWhereTheNewOneIsNotWhole) {
  const TemporaryFolder folder;
  const fs::path out = folder / "run.rankscope";
  make_recording(out, "old.rseg");
  auto old = PreviousRecording::move_aside(out);
  ASSERT_TRUE(old);
  fs::create_directories(out);
  std::ofstream{out / ("host-1" + std::string{recording::spool_mark_suffix})} << "/tmp/x\n";
  const auto settled = old->settle();
  ASSERT_FALSE(settled);
  const fs::path aside = out.string() + ".replaced-" + std::to_string(getpid());
  EXPECT_THAT(settled.error().message, ::testing::HasSubstr(aside.string()));
  EXPECT_TRUE(fs::exists(aside / recording::segment_folder / "old.rseg"));
}

TEST(PreviousRecording, WhatIsNoneIsNeverTouched) {
  const TemporaryFolder folder;
  const fs::path out = folder / "run.rankscope";
  fs::create_directories(out);
  std::ofstream{out / "manifest.json"} << "{\"name\": \"a web page\"}";
  EXPECT_EQ(in_the_way(out), InTheWay::other);
  EXPECT_FALSE(PreviousRecording::move_aside(out));
  make_recording(out, "old.rseg");
  std::ofstream{out / recording::segment_folder / "notes.txt"} << "mine";
  EXPECT_EQ(in_the_way(out), InTheWay::other);
  fs::remove(out / recording::segment_folder / "notes.txt");
  EXPECT_EQ(in_the_way(out), InTheWay::recording);
  std::ofstream{out / ("host-1" + std::string{recording::spool_mark_suffix})} << "/tmp/x\n";
  EXPECT_EQ(in_the_way(out), InTheWay::unfinished);
  fs::create_directory_symlink(out, folder / "link.rankscope");
  EXPECT_EQ(in_the_way(folder / "link.rankscope"), InTheWay::other);
  std::ofstream{folder / "file"} << "x";
  EXPECT_EQ(in_the_way(folder / "file"), InTheWay::other);
}

}  // namespace
}  // namespace rankscope::gui
