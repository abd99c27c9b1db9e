#include "host/tcp_sampler.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rankscope::collectors {
namespace {

using namespace std::chrono_literals;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// A connection of this process with itself, whose receiving end is read all the time.
class Loopback {
 public:
  Loopback() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener, 1);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    sender_ = socket(AF_INET, SOCK_STREAM, 0);
    connect(sender_, reinterpret_cast<sockaddr*>(&address), size);
    receiver_ = accept(listener, nullptr, nullptr);
    close(listener);
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
  /// Until the other end has acknowledged all of it.
  void send_and_settle(std::size_t count) const {
    send_bytes(count);
    std::this_thread::sleep_for(100ms);
  }
  /// As a slow network would.
  void slow_down(std::uint32_t bytes_per_second) const {
    ASSERT_EQ(setsockopt(sender_, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_second, sizeof bytes_per_second), 0);
  }

 private:
  int sender_ = -1;
  int receiver_ = -1;
  std::thread reader_;
};

void watch(TcpSampler& sampler, std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    sampler.look(now_ns());
    std::this_thread::sleep_for(5ms);
  }
}

/// The last values of the end that sends, by what they sum up.
std::map<TcpTotal, double> totals_of(TcpSampler& sampler) {
  std::map<TcpTotal, double> totals;
  for (const HostSample& sample : sampler.sample())
    if (const auto counter = tcp_counter_from(sample.name))
      totals[counter->total] = std::max(totals[counter->total], sample.value);
  return totals;
}

TEST(TcpSampler, TellsHowMuchWasSentAndThatNothingWaited) {
  const Loopback loopback;
  loopback.send_and_settle(200'000);
  TcpSampler sampler;
  watch(sampler, 20ms);
  loopback.send_bytes(300'000);
  watch(sampler, 150ms);
  const auto totals = totals_of(sampler);
  EXPECT_EQ(totals.at(TcpTotal::sent_bytes), 300'000) << "from when it was first seen";
  EXPECT_LT(totals.at(TcpTotal::backlog_seconds), 0.02);
}

TEST(TcpSampler, TellsHowLongDataWaitedForASlowNetworkAndAtWhichSpeedItLeft) {
  const Loopback loopback;
  loopback.send_and_settle(200'000);
  loopback.slow_down(4'000'000);
  TcpSampler sampler;
  watch(sampler, 20ms);
  std::thread sender{[&loopback] { loopback.send_bytes(1'200'000); }};
  watch(sampler, 600ms);
  sender.join();
  const auto totals = totals_of(sampler);
  EXPECT_EQ(totals.at(TcpTotal::sent_bytes), 1'200'000);
  EXPECT_GT(totals.at(TcpTotal::backlog_seconds), 0.1);
  EXPECT_LT(totals.at(TcpTotal::backlog_seconds), 0.5);
  EXPECT_LT(totals.at(TcpTotal::backlog_bytes) / totals.at(TcpTotal::backlog_seconds), 16e6);
}

TEST(TcpSampler, WritesATotalOnlyWhereItChanges) {
  const Loopback loopback;
  loopback.send_and_settle(200'000);
  TcpSampler sampler;
  watch(sampler, 10ms);
  EXPECT_EQ(sampler.sample().size(), 6U) << "three of each end";
  EXPECT_EQ(sampler.sample().size(), 6U) << "so that what follows begins here";
  EXPECT_TRUE(sampler.sample().empty());
}

TEST(TcpSampler, LeavesConnectionsAloneThatCarryLittle) {
  const Loopback loopback;
  loopback.send_and_settle(1'000);
  TcpSampler sampler;
  watch(sampler, 10ms);
  EXPECT_TRUE(sampler.sample().empty());
}

TEST(TcpSampler, CountsTheConnectionsThatItDoesNotWatch) {
  const std::vector<Loopback> loopbacks(TcpSampler::most_connections + 2);
  for (const Loopback& loopback : loopbacks) loopback.send_bytes(200'000);
  std::this_thread::sleep_for(100ms);
  TcpSampler sampler;
  watch(sampler, 10ms);
  const auto samples = sampler.sample();
  ASSERT_EQ(samples.size(), 3 * TcpSampler::most_connections + 1);
  EXPECT_EQ(samples.back().name, "tcp_connections_unwatched");
  EXPECT_EQ(samples.back().value, 2);
}

}  // namespace
}  // namespace rankscope::collectors
