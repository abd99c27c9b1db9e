#include "rankscope/core/regular_file.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "support/temporary_folder.h"

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::string refusal(const fs::path& path) {
  const auto text = read_regular_file(path, 1000);
  EXPECT_FALSE(text);
  EXPECT_FALSE(open_regular_file(path));
  EXPECT_EQ(text.error().kind, ErrorKind::unreadable);
  EXPECT_THAT(text.error().message, HasSubstr(path.string()));
  return text.error().message;
}

TEST(RegularFile, IsReadWhole) {
  const TemporaryFolder folder;
  std::ofstream{folder / "a"} << "one\ntwo\n";
  EXPECT_EQ(read_regular_file(folder / "a", 8), "one\ntwo\n");
  EXPECT_FALSE(is_special_file(folder / "a"));
}

TEST(RegularFile, IsRefusedIfItIsLargerThanItCanBe) {
  const TemporaryFolder folder;
  std::ofstream{folder / "a"} << "one\ntwo\n";
  EXPECT_THAT(read_regular_file(folder / "a", 7).error().message,
              HasSubstr("has 8 bytes, but a file of this kind has at most 7; it is damaged"));
}

TEST(RegularFile, APipeIsRefusedAndNotWaitedFor) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal(folder / "pipe"), HasSubstr("is a named pipe"));
  EXPECT_TRUE(is_special_file(folder / "pipe"));
}

TEST(RegularFile, ASocketIsRefused) {
  const TemporaryFolder folder;
  const int file = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(address.sun_path, (folder / "socket").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(refusal(folder / "socket"), HasSubstr("is a socket"));
  close(file);
}

TEST(RegularFile, ADeviceIsRefusedAlsoBehindALink) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal("/dev/zero"), HasSubstr("is a character device"));
  fs::create_symlink("/dev/zero", folder / "link");
  EXPECT_THAT(refusal(folder / "link"), HasSubstr("is a character device"));
}

TEST(RegularFile, AFolderAndNothingAtAllAreNoFiles) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal(folder.path()), HasSubstr("is a folder"));
  EXPECT_THAT(refusal(folder / "absent"), HasSubstr("No such file"));
  EXPECT_FALSE(is_special_file(folder.path()));
  EXPECT_FALSE(is_special_file(folder / "absent"));
}

}  // namespace
}  // namespace rankscope
