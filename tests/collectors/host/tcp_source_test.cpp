// What the kernel tells of descriptors and connections of this process. Others that it has inherited may be among them.
#include "host/tcp_source.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "host/tcp_sampler.h"
#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Not;

/// A connection of this process with itself, whose receiving end is read all the time.
class Loopback {
 public:
  Loopback() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    listen(listener, 1);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    sender_ = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(sender_, reinterpret_cast<sockaddr*>(&address), size), 0);
    receiver_ = accept(listener, nullptr, nullptr);
    close(listener);
    remote_ = format("127.0.0.1:{}", ntohs(address.sin_port));
    getsockname(sender_, reinterpret_cast<sockaddr*>(&address), &size);
    local_ = format("127.0.0.1:{}", ntohs(address.sin_port));
    reader_ = std::thread{[this] {
      std::vector<char> bytes(1 << 16);
      while (read(receiver_, bytes.data(), bytes.size()) > 0) {
      }
    }};
  }
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;
  ~Loopback() {
    shutdown(sender_, SHUT_WR);
    reader_.join();
    close(sender_);
    close(receiver_);
  }

  void send_bytes(std::size_t count) const {
    const std::vector<char> bytes(count);
    for (std::size_t sent = 0; sent < count;) {
      const ssize_t part = send(sender_, bytes.data() + sent, count - sent, 0);
      ASSERT_GT(part, 0);
      sent += static_cast<std::size_t>(part);
    }
  }
  [[nodiscard]] const std::string& local() const { return local_; }
  [[nodiscard]] const std::string& remote() const { return remote_; }

 private:
  int sender_ = -1;
  int receiver_ = -1;
  std::string local_;
  std::string remote_;
  std::thread reader_;
};

std::vector<int> files_of(KernelTcpSource& source) {
  const auto files = source.files();
  return files ? std::vector<int>(files->begin(), files->end()) : std::vector<int>{};
}

/// The descriptor by which it lists the others.
int folder_of(KernelTcpSource& source) {
  const std::string folder = format("/proc/{}/fd", getpid());
  for (const int file : files_of(source)) {
    std::error_code none;
    if (std::filesystem::read_symlink(format("/proc/self/fd/{}", file), none) == folder) return file;
  }
  return -1;
}

TEST(TcpSource, ListsTheFilesThatAreOpen) {
  KernelTcpSource source;
  std::vector<int> own;
  for (int i = 0; i < 300; ++i) own.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_THAT(files_of(source), ::testing::IsSupersetOf(own)) << "in several reads of the folder";
  for (const int file : own) close(file);
  EXPECT_THAT(files_of(source), Not(Contains(own.back())));
}

TEST(TcpSource, AFileThatIsNoConnectionHasNoState) {
  KernelTcpSource source;
  EXPECT_FALSE(source.state_of(folder_of(source)));
  EXPECT_FALSE(source.state_of(-1));
}

TEST(TcpSource, LeavesAFileAloneThatTheProgramHasOpenedInItsPlace) {
  const int own = memfd_create("own", MFD_CLOEXEC);
  ASSERT_EQ(write(own, "0123456789", 10), 10);
  ASSERT_EQ(lseek(own, 4, SEEK_SET), 4);
  int folder = -1;
  {
    KernelTcpSource source;
    folder = folder_of(source);
    ASSERT_GE(folder, 0);
    ASSERT_EQ(dup2(own, folder), folder);
    EXPECT_FALSE(source.files());
    EXPECT_EQ(lseek(folder, 0, SEEK_CUR), 4) << "where the program reads on";
  }
  EXPECT_NE(fcntl(folder, F_GETFD), -1) << "it is still open";
  close(folder);
  close(own);
}

TEST(TcpSource, StaysAwayFromANumberThatHasBeenClosedOnce) {
  KernelTcpSource source;
  const int folder = folder_of(source);
  ASSERT_GE(folder, 0);
  close(folder);
  EXPECT_FALSE(source.files());
  EXPECT_FALSE(source.files());
}

/// Whatever the host does meanwhile: the sampler looks until it has seen what this connection sends.
TEST(TcpSource, TellsASamplerWhatAConnectionSendsAndBetweenWhichEnds) {
  constexpr double enough = 300'000;
  const Loopback loopback;
  const std::string name = counter_name_of({loopback.local(), loopback.remote(), TcpTotal::sent_bytes});
  KernelTcpSource source;
  TcpSampler sampler{source};
  double sent = 0;
  const auto patience = std::chrono::steady_clock::now() + 60s;
  for (std::int64_t now_ns = 1'000'000'000; sent < enough; now_ns += 1'000'000'000) {
    ASSERT_LT(std::chrono::steady_clock::now(), patience) << name;
    loopback.send_bytes(100'000);
    sampler.look(now_ns);
    for (const HostSample& sample : sampler.sample())
      if (sample.name == name) sent = sample.value;
    std::this_thread::yield();
  }
  EXPECT_GE(sent, enough);
}

}  // namespace
}  // namespace rankscope::collectors
