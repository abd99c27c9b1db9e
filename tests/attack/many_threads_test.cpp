// A trace with 200,000 threads of as many processes is read, and its report made. If something looked at all others for
// each of them, the time limit of ctest would end the test; nothing here measures time.
#include <gtest/gtest.h>

#include <fstream>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

constexpr int threads = 200'000;

TEST(ManyThreads, AreReadAndReported) {
  const testing::TemporaryFolder folder;
  {
    std::ofstream trace{folder / "rank0.json"};
    trace << R"({"traceEvents": [)";
    for (int i = 1; i <= threads; ++i)
      trace << (i > 1 ? "," : "") << R"({"ph": "X", "cat": "cpu_op", "name": "op", "pid": )" << i << R"(, "tid": )" << i
            << R"(, "ts": )" << i * 10 << R"(, "dur": 5})";
    trace << "]}";
  }
  const auto run = analyzer::open_run(folder / "rank0.json");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->lanes().size(), static_cast<std::size_t>(threads));
  const analyzer::Report report = analyzer::analyze(**run, {});
  EXPECT_EQ(report.ranks.size(), 1U);
}

}  // namespace
}  // namespace rankscope
