#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pack/tar.h"
#include "pack/zstd_file.h"
#include "rankscope/analyzer/pack.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;

TEST(Unpack, APackThatWouldFillTheDiskIsRefusedBeforeItDoes) {
  const testing::TemporaryFolder folder;
  {
    auto file = OutputFile::create(folder / "bomb.tar.zst");
    ASSERT_TRUE(file) << file.error().message;
    ZstdWriter zstd{*file};
    const auto header = tar::header_of({.name = "run.rankscope/segments/0.rseg", .bytes = std::uint64_t{1} << 40U});
    ASSERT_TRUE(header) << header.error().message;
    ASSERT_TRUE(zstd.write(*header));
    ASSERT_TRUE(zstd.write(std::string(1 << 20, '\0')));
    ASSERT_TRUE(zstd.finish());
    ASSERT_TRUE(file->commit());
  }
  const auto run = read_pack(folder / "bomb.tar.zst", {});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::unreadable);
  EXPECT_THAT(run.error().message, HasSubstr("bomb.tar.zst would unpack to more than 268 MB"));
}

TEST(Unpack, MillionsOfEmptyMembersCountByTheirHeaders) {
  const testing::TemporaryFolder folder;
  {
    auto file = OutputFile::create(folder / "many.tar.zst");
    ASSERT_TRUE(file) << file.error().message;
    ZstdWriter zstd{*file};
    const auto header = tar::header_of({.name = "nothing"});
    ASSERT_TRUE(header) << header.error().message;
    std::string headers;
    for (int i = 0; i < 2048; ++i) headers += *header;
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(zstd.write(headers));
    ASSERT_TRUE(zstd.finish());
    ASSERT_TRUE(file->commit());
  }
  const auto run = read_pack(folder / "many.tar.zst", {});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("many.tar.zst would unpack to more than 268 MB"));
}

}  // namespace
}  // namespace rankscope::analyzer
