// Every export of a real job, cut at every hundredth: each is refused in one sentence; nothing crashes or hangs.
#include <gmock/gmock.h>

#include <fstream>

#include "rankscope/analyzer/open.h"
#include "shared_data.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

class CutNsys : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << testing::no_shared_data;
    fs::copy_file(testing::shared_data() / "nsys" / GetParam(), folder_ / "a.sqlite");
    fs::permissions(folder_ / "a.sqlite", fs::perms::owner_all);
  }
  /// Writes over the lost part with zeros, so that the size is right and only SQLite can notice.
  void blank_from(std::uintmax_t offset) const {
    const auto size = fs::file_size(folder_ / "a.sqlite");
    fs::resize_file(folder_ / "a.sqlite", offset);
    fs::resize_file(folder_ / "a.sqlite", size);
  }
  testing::TemporaryFolder folder_;
};

TEST_P(CutNsys, IsRefusedAtAnyLength) {
  const auto size = fs::file_size(folder_ / "a.sqlite");
  for (std::uintmax_t percent = 99;; --percent) {
    fs::resize_file(folder_ / "a.sqlite", size * percent / 100);
    const auto run = analyzer::open_run(folder_ / "a.sqlite");
    ASSERT_FALSE(run) << percent;
    EXPECT_EQ(run.error().kind, ErrorKind::unreadable);
    EXPECT_EQ(run.error().message.find('\n'), std::string::npos);
    EXPECT_THAT(run.error().message, ::testing::HasSubstr("a.sqlite"));
    if (percent == 0) break;
  }
}

TEST_P(CutNsys, BlankedAnywhereNeitherCrashesNorHangs) {
  const auto size = fs::file_size(folder_ / "a.sqlite");
  for (std::uintmax_t percent = 99; percent > 0; --percent) {
    blank_from(size * percent / 100);
    const auto run = analyzer::open_run(folder_ / "a.sqlite");
    if (!run) {
      EXPECT_EQ(run.error().kind, ErrorKind::unreadable);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, CutNsys, ::testing::ValuesIn(testing::exports_of_nsys()),
                         [](const auto& test) { return testing::plain_name(test.param); });

}  // namespace
}  // namespace rankscope
