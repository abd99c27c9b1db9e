// Numbers that must add up, on every recording that others made.
#include <gtest/gtest.h>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/report.h"
#include "shared_data.h"

namespace rankscope {
namespace {

/// All files of a folder that are recordings, with the folder.
std::vector<std::string> recordings() {
  std::vector<std::string> all;
  for (const char* const folder : {"kineto", "nsys"})
    for (const std::string& name : testing::shared_files(folder))
      if (name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(".sqlite"))
        all.push_back(std::string{folder} + "/" + name);
  if (all.empty()) all.emplace_back();
  return all;
}

class SharedRecordings : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << testing::no_shared_data;
  }
};

TEST_P(SharedRecordings, SplitTheirTimeExactly) {
  const auto run = analyzer::open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << "none of them was ever refused: " << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  ASSERT_TRUE(report.rank_rows) << report.rank_rows.error().why;
  for (const analyzer::RankRow& row : *report.rank_rows) {
    const analyzer::TimeSplit& split = row.total;
    EXPECT_EQ(split.compute_ns + split.exposed_comm_ns + split.memory_ns + split.idle_ns, split.window_ns);
    EXPECT_EQ(split.exposed_comm_ns + split.overlapped_comm_ns, split.comm_ns);
    EXPECT_EQ(split.wait_ns + split.transfer_ns + split.unsplit_ns, split.comm_ns);
    std::int64_t causes = 0;
    for (const std::int64_t cause : split.idle_causes_ns) causes += cause;
    EXPECT_EQ(causes, split.idle_ns);
    if (!(*run)->has_accelerator(row.rank)) continue;
    std::array<std::int64_t, analyzer::idle_cause_count> shares{};
    for (const analyzer::IdleShare& share : row.idle_shares) shares[static_cast<std::size_t>(share.cause)] += share.ns;
    EXPECT_EQ(shares, split.idle_causes_ns);
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, SharedRecordings, ::testing::ValuesIn(recordings()),
                         [](const auto& test) { return testing::plain_name(test.param); });

}  // namespace
}  // namespace rankscope
