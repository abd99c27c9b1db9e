// Segments of ended processes give back what they kept ready, and those of living ones are never touched.
#include "launch/ended_segments.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/segment_writer.h"
#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

/// Of a process of another host, as far as the name tells: nothing here says that it has ended.
fs::path foreign_segment(const Folder& folder) { return folder / "elsewhere-1-1.rseg"; }

std::unique_ptr<recording::SegmentWriter> create(const fs::path& path) {
  auto writer = recording::SegmentWriter::create({.path = path, .rank = 0, .rank_source = "RANK"});
  if (!writer) throw std::runtime_error(writer.error().message);
  return std::move(*writer);
}

TEST(EndedSegments, ArePackedAndReadAsBefore) {
  const Folder spool;
  const fs::path path = foreign_segment(spool);
  create(path)->thread()->mark("here");
  const auto before = fs::file_size(path);
  EndedSegments{spool.path()}.pack();
  EXPECT_LT(fs::file_size(path), before / 4);
  const auto run = recording::read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(marks_of(**run), ::testing::ElementsAre("here"));
  EXPECT_EQ(spool.file_count(), 1U);
}

TEST(EndedSegments, ThatAProcessCanStillWriteToAreLeftAlone) {
  const Folder spool;
  const fs::path path = foreign_segment(spool);
  auto writer = create(path);
  const auto before = fs::file_size(path);
  EndedSegments ended{spool.path()};
  ended.pack();
  EXPECT_EQ(fs::file_size(path), before);
  EXPECT_FALSE(nobody_writes(path));
  writer->thread()->mark("later");
  writer.reset();
  EXPECT_TRUE(nobody_writes(path));
  ended.pack();
  EXPECT_LT(fs::file_size(path), before);
  EXPECT_THAT(marks_of(**recording::read_recording(spool.path())), ::testing::ElementsAre("later"));
}

TEST(EndedSegments, ThatAForkedChildHasMappedAreLeftAlone) {
  const Folder spool;
  const fs::path path = foreign_segment(spool);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  auto writer = create(path);
  writer->thread()->mark("here");
  const pid_t child = fork();
  if (child == 0) {
    writer->leave_to_parent();  // its descriptor; the mapping stays
    close(ends[1]);
    char letter = 0;
    _exit(read(ends[0], &letter, 1) == 0 ? 0 : 1);  // 0: the other end was closed
  }
  writer.reset();
  EXPECT_FALSE(nobody_writes(path));
  close(ends[1]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "the child lived until then";
  EXPECT_TRUE(nobody_writes(path));
  close(ends[0]);
}

TEST(EndedSegments, OfLargeProcessesAreNotCopied) {
  const Folder spool;
  const fs::path path = foreign_segment(spool);
  {
    const auto writer = create(path);
    const auto pen = writer->thread();
    for (int i = 0; i < 100'000; ++i) {
      pen->mark("mark");
      if (i % 1000 == 0) writer->refill();
    }
  }
  const auto before = fs::file_size(path);
  EndedSegments{spool.path()}.pack();
  EXPECT_EQ(fs::file_size(path), before);
}

}  // namespace
}  // namespace rankscope::collectors
