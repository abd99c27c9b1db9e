// What one process of a host claims.
#include "spool/claim.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <optional>

#include "support/temporary_folder.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;

/// In a child of ours.
bool another_gets(const fs::path& path) {
  const pid_t child = fork();
  if (child == 0) _exit(Claim{path}.held() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST(Claim, IsOfOneProcessWhileItHoldsIt) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder / "sampled-GPU-1";
  std::optional<Claim> mine{std::in_place, path};
  EXPECT_TRUE(mine->held());
  EXPECT_FALSE(another_gets(path));
  mine.reset();
  EXPECT_TRUE(another_gets(path));
}

TEST(Claim, IsNotKeptByForkedChildren) {
  const testing::TemporaryFolder folder;
  const fs::path path = folder / "sampled-GPU-1";
  std::optional<Claim> mine{std::in_place, path};
  std::array<int, 2> until{};
  ASSERT_EQ(pipe(until.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(until[1]);
    char end = 0;
    _exit(read(until[0], &end, 1) == 0 ? 0 : 1);
  }
  mine.reset();
  EXPECT_TRUE(another_gets(path)) << "though a child of its first owner lives";
  close(until[0]);
  close(until[1]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Claim, OfAnotherProcessIsNoError) {
  const testing::TemporaryFolder folder;
  for (const auto& lock : {+[](int) noexcept { return EACCES; }, +[](int) noexcept { return EAGAIN; }}) {
    const Claim claim{folder / "claim", lock};
    EXPECT_FALSE(claim.held());
    EXPECT_EQ(claim.error(), 0);
  }
  EXPECT_EQ(Claim{folder / "claim"}.error(), 0);
}

TEST(Claim, ThatNobodyCanMakeSaysWhy) {
  const Claim nowhere{"/no/such/folder/claim"};
  EXPECT_FALSE(nowhere.held());
  EXPECT_EQ(nowhere.error(), ENOENT);
  const testing::TemporaryFolder folder;
  for (const auto& lock : {+[](int) noexcept { return ENOLCK; }, +[](int) noexcept { return ENOSYS; }}) {
    const Claim claim{folder / "claim", lock};
    EXPECT_FALSE(claim.held());
    EXPECT_EQ(claim.error(), lock(0));
  }
}

TEST(Claim, WithoutADescriptorSaysSo) {
  const testing::TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_NOFILE, &none);
    _exit(Claim{folder / "claim"}.error() == EMFILE ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Claim, CanBeTakenOverByAnotherUser) {
  const testing::TemporaryFolder folder;
  const mode_t before = umask(077);
  { const Claim claim{folder / "claim"}; }
  umask(before);
  EXPECT_EQ(fs::status(folder / "claim").permissions(), fs::perms{0666});
}

}  // namespace
}  // namespace rankscope::collectors
