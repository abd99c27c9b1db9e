// What is read of a recording that is not gathered yet.
#include "launch/gather.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "rankscope/core/recording/segment_writer.h"
#include "support/temporary_folder.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;

TEST(WholeView, ShowsAlsoTheLastOfHundredsOfProcesses) {
  constexpr int processes = 300;
  const rankscope::testing::TemporaryFolder folder;
  const fs::path spool = folder / "spool", out = folder / "run.rankscope";
  fs::create_directories(spool);
  fs::create_directories(out);
  std::ofstream{out / ("host-1" + std::string{recording::spool_mark_suffix})} << spool.string() << '\n';
  std::vector<std::unique_ptr<recording::SegmentWriter>> writers;
  for (int rank = 0; rank < processes; ++rank) {
    auto writer = recording::SegmentWriter::create(
        {.path = spool / (std::to_string(1000 + rank) + ".rseg"), .ring_kib = 64, .rank = rank, .rank_source = "RANK"});
    ASSERT_TRUE(writer) << writer.error().message;
    writers.push_back(std::move(*writer));
  }
  {
    const auto pen = writers.back()->thread();
    pen->push(SpanKind::step, "step");
    pen->pop();
  }
  const recording::LiveView view = whole_view(out);
  EXPECT_EQ(view.left_out, 0U);
  EXPECT_EQ(view.processes.size(), static_cast<std::size_t>(processes));
  EXPECT_TRUE(any_step(out)) << "of the last one";
}

}  // namespace
}  // namespace rankscope::collectors
