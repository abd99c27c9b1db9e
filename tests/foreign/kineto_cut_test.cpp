// Every trace of a real job, cut at every hundredth: nothing crashes or hangs, and what is read only grows.
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "rankscope/analyzer/open.h"
#include "rankscope/core/model/run.h"
#include "shared_data.h"
#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Unpacks a .gz file with zlib's own reader.
void unpack(const fs::path& from, const fs::path& to) {
  const gzFile in = gzopen(from.c_str(), "rb");
  ASSERT_NE(in, nullptr);
  std::ofstream out{to, std::ios::binary};
  std::vector<char> block(1 << 20);
  for (int size = 0; (size = gzread(in, block.data(), static_cast<unsigned>(block.size()))) > 0;)
    out.write(block.data(), size);
  gzclose(in);
}

class CutKineto : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << testing::no_shared_data;
  }
  /// Cuts the file shorter and shorter.
  static void cut_everywhere(const fs::path& file) {
    const auto whole = analyzer::open_run(file);
    ASSERT_TRUE(whole) << whole.error().message;
    std::size_t spans = (*whole)->spans().size() + 1;
    const auto size = fs::file_size(file);
    for (std::uintmax_t percent = 99; percent > 0; --percent) {
      fs::resize_file(file, size * percent / 100);
      const auto run = analyzer::open_run(file);
      if (!run) {
        EXPECT_EQ(run.error().kind, ErrorKind::unreadable);
        continue;
      }
      EXPECT_LE((*run)->spans().size(), spans) << percent;
      EXPECT_GE((*run)->quality().of(Counter::truncated_input), 1U) << percent;
      spans = (*run)->spans().size();
    }
  }
};

TEST_P(CutKineto, PlainTextGivesWhatItStillHolds) {
  const testing::TemporaryFolder folder;
  unpack(testing::shared_data() / "kineto" / GetParam(), folder / "rank0.json");
  cut_everywhere(folder / "rank0.json");
}

TEST_P(CutKineto, PackedFilesGiveWhatTheyStillHold) {
  const testing::TemporaryFolder folder;
  fs::copy_file(testing::shared_data() / "kineto" / GetParam(), folder / "rank0.json.gz");
  fs::permissions(folder / "rank0.json.gz", fs::perms::owner_all);
  cut_everywhere(folder / "rank0.json.gz");
}

INSTANTIATE_TEST_SUITE_P(Shared, CutKineto, ::testing::ValuesIn(testing::shared_files("kineto")),
                         [](const auto& test) { return testing::plain_name(test.param); });

}  // namespace
}  // namespace rankscope
