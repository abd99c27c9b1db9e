// Dumps that PyTorch 2.11 wrote (torch_2_11/README.md says how): each form gives the same verdict, and stacks the
// lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "importers/flight_recorder/dump.h"
#include "importers/shared/json_values.h"
#include "rankscope/analyzer/hang/hang.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// The verdict on the dumps of a folder, written long after the last call, whatever the clock of this machine says.
HangReport judged(const std::string& form) {
  const testing::TemporaryFolder folder;
  const fs::path dumps = folder / "dumps";
  fs::copy(fs::path{RANKSCOPE_TORCH_DUMPS} / form, dumps);
  for (const fs::directory_entry& dump : fs::directory_iterator{dumps}) {
    constexpr timespec in_2027{.tv_sec = 1'800'000'000, .tv_nsec = 0};
    constexpr std::array<timespec, 2> times{in_2027, in_2027};  // of the last access and of the last change
    EXPECT_EQ(utimensat(AT_FDCWD, dump.path().c_str(), times.data(), 0), 0);
  }
  auto report = judge_dumps(std::span{&dumps, 1}, {});
  EXPECT_TRUE(report) << report.error().message;
  return report ? std::move(*report) : HangReport{};
}

class TorchDumps : public ::testing::TestWithParam<const char*> {};

TEST_P(TorchDumps, NameTheRankThatNeverCame) {
  const HangReport report = judged(GetParam());
  EXPECT_EQ(report.verdict, HangVerdict::hang);
  EXPECT_EQ(report.inputs, 2U);
  EXPECT_TRUE(report.losses.empty());
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_EQ(report.roots[0].kind, HangKind::never_came);
  EXPECT_THAT(report.roots[0].ranks, ElementsAre(RankId{1}));
  ASSERT_TRUE(report.roots[0].operation);
  EXPECT_EQ(report.roots[0].operation->op, "all_reduce");
  EXPECT_EQ(report.roots[0].operation->sequence, 3);
  EXPECT_EQ(report.roots[0].operation->shape, "16");
}
INSTANTIATE_TEST_SUITE_P(Forms, TorchDumps, ::testing::Values("json", "stacks", "cpp_stacks"),
                         [](const auto& form) { return std::string{form.param}; });

class TorchStacks : public ::testing::TestWithParam<const char*> {};

TEST_P(TorchStacks, GiveTheLinesOfTheProgram) {
  const HangReport report = judged(GetParam());
  ASSERT_EQ(report.roots.size(), 1U);
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("rank 0 waits in all_reduce 3 of the default group, called at "
                                                  "train.py:15 in step; "));
  EXPECT_THAT(report.roots[0].evidence, HasSubstr("its last call in this group was collective 2, at train.py:9 in "
                                                  "average; "));
}
INSTANTIATE_TEST_SUITE_P(Forms, TorchStacks, ::testing::Values("stacks", "cpp_stacks"),
                         [](const auto& form) { return std::string{form.param}; });

TEST(TorchJson, HasNoStacks) { EXPECT_THAT(judged("json").roots.at(0).evidence, Not(HasSubstr(" at "))); }

TEST(TorchJson, HasItsNumbersAsTexts) {
  const std::string text = testing::read_file(fs::path{RANKSCOPE_TORCH_DUMPS} / "json" / "dump_0.json");
  PlainValues values;
  const auto root = read_json(text, values);
  ASSERT_TRUE(root);
  const auto dump = flight_recorder::dump_from(values, *root);
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->entries.size(), 3U);
  EXPECT_TRUE(dump->entries[1].finished) << "Gloo only retires what has finished";
  EXPECT_FALSE(dump->entries[2].finished);
  ASSERT_EQ(dump->status.size(), 1U);
  EXPECT_EQ(dump->status[0].pg_id, 0);
  EXPECT_EQ(dump->status[0].enqueued, 3);
  EXPECT_EQ(dump->status[0].completed, 2);
}

}  // namespace
}  // namespace rankscope::analyzer
