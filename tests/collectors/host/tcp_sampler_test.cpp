// Connections that exist in the test only, and a clock of its own.
#include "host/tcp_sampler.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

constexpr int most = static_cast<int>(TcpSampler::most_watched);
constexpr double jot = 1e-9;

TcpEnds ends_with(int peer) { return {"10.0.0.1:4000", format("10.0.0.2:{}", 5000 + peer)}; }
std::string name_of(int peer, TcpTotal total) {
  const TcpEnds ends = ends_with(peer);
  return counter_name_of({ends.local, ends.remote, total});
}

struct Script final : TcpSource {
  std::map<int, std::pair<TcpEnds, TcpState>> open;  ///< by the number of the file
  std::vector<int> listed;
  bool can_list = true;

  std::optional<std::span<const int>> files() override {
    if (!can_list) return std::nullopt;
    listed.clear();
    for (const auto& [file, connection] : open) listed.push_back(file);
    return listed;
  }
  std::optional<TcpState> state_of(int file) override {
    const auto found = open.find(file);
    return found == open.end() ? std::nullopt : std::optional{found->second.second};
  }
  std::optional<TcpEnds> ends_of(int file) override { return open.at(file).first; }
};

/// A sampler of connections that the test moves on between its looks, and what it has written.
struct Watch {
  Script source{};
  TcpSampler sampler{source};
  std::int64_t now_ns = 1'000'000'000;
  std::map<std::string, double> last{};

  /// The file has the number of the peer.
  TcpState& open(int peer, const TcpState& state) {
    return source.open.insert_or_assign(peer, std::pair{ends_with(peer), state}).first->second.second;
  }
  void send(int peer, std::uint64_t bytes) { source.open.at(peer).second.acknowledged_bytes += bytes; }
  void look(std::chrono::nanoseconds later = 10ms) {
    now_ns += later.count();
    sampler.look(now_ns);
  }
  /// Also looks which connections there are.
  void search() { look(1s); }

  std::vector<std::string> written() {
    std::vector<std::string> names;
    last.erase(std::string{tcp_unwatched_name});
    for (const HostSample& sample : sampler.sample()) {
      names.emplace_back(sample.name);
      last[names.back()] = sample.value;
    }
    return names;
  }
  double total(int peer, TcpTotal which) {
    written();
    return last.at(name_of(peer, which));
  }
  double unwatched() {
    written();
    const auto found = last.find(std::string{tcp_unwatched_name});
    return found == last.end() ? 0 : found->second;
  }
  bool knows(int peer) {
    written();
    return last.contains(name_of(peer, TcpTotal::sent_bytes));
  }
};

TEST(TcpSampler, TellsHowMuchWasSentSinceItWasFirstSeenAndThatNothingWaited) {
  Watch watch;
  watch.open(1, {.acknowledged_bytes = 200'000});
  watch.look();
  watch.send(1, 300'000);
  watch.look();
  EXPECT_EQ(watch.total(1, TcpTotal::sent_bytes), 300'000);
  EXPECT_EQ(watch.total(1, TcpTotal::backlog_seconds), 0);
  EXPECT_EQ(watch.total(1, TcpTotal::backlog_bytes), 0);
}

TEST(TcpSampler, WritesTheLastTotalsOfAConnectionThatWasClosed) {
  Watch watch;
  watch.open(1, {.acknowledged_bytes = 200'000});
  watch.look();
  watch.written();
  watch.send(1, 300'000);
  watch.look();
  watch.source.open.clear();
  watch.search();
  EXPECT_EQ(watch.total(1, TcpTotal::sent_bytes), 300'000);
  watch.search();
  EXPECT_THAT(watch.written(), IsEmpty());
}

TEST(TcpSampler, TellsHowLongDataWaitedAndHowMuchLeftMeanwhile) {
  Watch watch;
  TcpState& state = watch.open(1, {.acknowledged_bytes = 200'000, .unsent_bytes = 90'000});
  watch.look();
  for (int i = 0; i < 10; ++i) {
    watch.send(1, 40'000);
    watch.look();
  }
  state.unsent_bytes = 0;
  watch.send(1, 40'000);
  watch.look();
  watch.send(1, 999'000);
  watch.look();
  EXPECT_NEAR(watch.total(1, TcpTotal::backlog_seconds), 0.105, jot) << "half of the time in which it ended";
  EXPECT_NEAR(watch.total(1, TcpTotal::backlog_bytes), 420'000, 1e-3);
  EXPECT_EQ(watch.total(1, TcpTotal::sent_bytes), 1'439'000);
}

TEST(TcpSampler, DataThatWaitsForAPeerThatDoesNotReadIsNoBacklog) {
  for (const std::uint64_t tick_us : {1'000U, 4'000U, 10'000U}) {
    Watch watch;
    TcpState& state = watch.open(1, {.acknowledged_bytes = 200'000});
    watch.look();
    state.unsent_bytes = 90'000;
    for (std::uint64_t time_us = 10'000; time_us <= 500'000; time_us += 10'000) {
      state.peer_limited_us = time_us / tick_us * tick_us;
      watch.send(1, 100);
      watch.look();
    }
    EXPECT_EQ(watch.total(1, TcpTotal::backlog_seconds), 0) << tick_us;
    EXPECT_EQ(watch.total(1, TcpTotal::backlog_bytes), 0) << tick_us;
    for (int i = 0; i < 10; ++i) watch.look();
    EXPECT_NEAR(watch.total(1, TcpTotal::backlog_seconds), 0.1, 0.0101) << "the peer reads, and the network is slow";
  }
}

TEST(TcpSampler, OnlyTheRestIsBacklogWhereThePeerDoesNotReadForPartOfTheTime) {
  Watch watch;
  TcpState& state =
      watch.open(1, {.acknowledged_bytes = 200'000, .unsent_bytes = 90'000, .peer_limited_us = 7'000'000});
  watch.look();
  for (int i = 0; i < 10; ++i) {
    state.peer_limited_us += 4'000;
    watch.send(1, 10'000);
    watch.look();
  }
  EXPECT_NEAR(watch.total(1, TcpTotal::backlog_seconds), 0.06, jot);
  EXPECT_NEAR(watch.total(1, TcpTotal::backlog_bytes), 60'000, 1e-3);
}

TEST(TcpSampler, OfAPauseOfItsOwnNobodyKnowsWhatWaited) {
  Watch watch;
  watch.open(1, {.acknowledged_bytes = 200'000, .unsent_bytes = 90'000});
  watch.look();
  watch.send(1, 10'000);
  watch.look(150ms);
  EXPECT_EQ(watch.total(1, TcpTotal::backlog_seconds), 0);
  EXPECT_EQ(watch.total(1, TcpTotal::sent_bytes), 10'000);
}

TEST(TcpSampler, WritesATotalOnlyWhereItChanges) {
  Watch watch;
  watch.open(1, {.acknowledged_bytes = 200'000});
  watch.look();
  EXPECT_EQ(watch.written().size(), tcp_total_count);
  EXPECT_EQ(watch.written().size(), tcp_total_count) << "so that what follows begins here";
  EXPECT_THAT(watch.written(), IsEmpty());
  watch.send(1, 5);
  watch.look();
  EXPECT_THAT(watch.written(), ::testing::ElementsAre(name_of(1, TcpTotal::sent_bytes)));
}

TEST(TcpSampler, LeavesConnectionsAloneThatCarryLittle) {
  Watch watch;
  watch.open(1, {.acknowledged_bytes = 50'000, .received_bytes = 49'999});
  watch.look();
  EXPECT_THAT(watch.written(), IsEmpty());
}

TEST(TcpSampler, CountsTheConnectionsThatItDoesNotWatch) {
  Watch watch;
  for (int peer = 0; peer < most + 2; ++peer) watch.open(peer, {.acknowledged_bytes = 200'000});
  watch.look();
  EXPECT_EQ(watch.unwatched(), 2);
  watch.source.open.erase(0);
  watch.source.open.erase(1);
  watch.search();
  EXPECT_EQ(watch.unwatched(), 0);
}

TEST(TcpSampler, WatchesThoseThatSendNowAndNotThoseThatSentLongAgo) {
  Watch watch;
  for (int peer = 0; peer < most; ++peer) watch.open(peer, {.acknowledged_bytes = 900'000'000});
  watch.open(most, {.acknowledged_bytes = 200'000});
  watch.look();
  EXPECT_EQ(watch.unwatched(), 1);
  for (int second = 0; second < 3; ++second) {
    watch.send(most, 1'000);
    watch.search();
    EXPECT_EQ(watch.unwatched(), 0);
  }
  EXPECT_EQ(watch.total(most, TcpTotal::sent_bytes), 2'000) << "from when it is watched";
}

TEST(TcpSampler, ConnectionsWithAboutAsMuchTrafficDoNotTakeTurns) {
  Watch watch;
  for (int peer = 0; peer <= most; ++peer) watch.open(peer, {.acknowledged_bytes = peer < most ? 300'000U : 200'000U});
  watch.look();
  for (int second = 0; second < 4; ++second) {
    for (int peer = 0; peer <= most; ++peer) watch.send(peer, peer < most ? 10'000 : 15'000);
    watch.search();
  }
  for (int peer = 0; peer < most; ++peer) EXPECT_EQ(watch.total(peer, TcpTotal::sent_bytes), 40'000) << peer;
  EXPECT_EQ(watch.total(most, TcpTotal::sent_bytes), 0);
  EXPECT_EQ(watch.unwatched(), 1);
}

TEST(TcpSampler, AConnectionThatIsWatchedAgainGoesOnFromItsTotals) {
  Watch watch;
  for (int peer = 0; peer <= most; ++peer) watch.open(peer, {.acknowledged_bytes = peer < most ? 300'000U : 200'000U});
  const auto second = [&](std::uint64_t by_first, std::uint64_t by_last) {
    for (int peer = 1; peer < most; ++peer) watch.send(peer, 10'000);
    watch.send(0, by_first);
    watch.send(most, by_last);
    watch.search();
  };
  watch.look();
  watch.source.open.at(0).second.unsent_bytes = 90'000;
  watch.look();
  second(1'000, 10'000);
  EXPECT_EQ(watch.total(0, TcpTotal::sent_bytes), 1'000) << "its last before the other takes its place";
  watch.source.open.at(0).second.unsent_bytes = 0;
  second(50'000, 1'000);
  watch.send(0, 7'000);
  watch.look();
  EXPECT_EQ(watch.total(0, TcpTotal::sent_bytes), 8'000) << "without what it sent while it was not watched";
  EXPECT_NEAR(watch.total(0, TcpTotal::backlog_seconds), 0.005, jot) << "what waited when it left waits no more";
  EXPECT_EQ(watch.total(most, TcpTotal::sent_bytes), 1'000);
}

TEST(TcpSampler, EndsThatOnlyReceiveAreWrittenThoughAllThatAreWatchedSend) {
  constexpr auto receiving = static_cast<int>(TcpSampler::most_receiving);
  Watch watch;
  for (int peer = 0; peer < most; ++peer) watch.open(peer, {.acknowledged_bytes = 200'000});
  for (int peer = most; peer < most + receiving; ++peer) watch.open(peer, {.received_bytes = 300'000});
  watch.open(most + receiving, {.received_bytes = 200'000});
  watch.look();
  EXPECT_EQ(watch.total(most + receiving - 1, TcpTotal::sent_bytes), 0);
  EXPECT_FALSE(watch.knows(most + receiving)) << "it receives less than the others";
  EXPECT_EQ(watch.unwatched(), 0) << "it sends nothing";
  watch.source.open.at(most + receiving).second.received_bytes += 1'000;
  watch.search();
  EXPECT_TRUE(watch.knows(most + receiving));
}

TEST(TcpSampler, KnowsALimitedNumberOfConnections) {
  constexpr int all = 3'000;
  constexpr auto known = static_cast<int>(TcpSampler::most_known);
  Watch watch;
  for (int peer = 0; peer < all; ++peer) watch.open(peer, {.acknowledged_bytes = 200'000});
  watch.look();
  EXPECT_EQ(watch.unwatched(), all - most);
  watch.search();
  EXPECT_EQ(watch.unwatched(), all - known) << "of those that are known none has sent anything";
  for (int peer = 0; peer < known; ++peer) watch.source.open.erase(peer);
  watch.search();
  EXPECT_EQ(watch.unwatched(), all - known) << "their places become free";
  watch.search();
  EXPECT_EQ(watch.unwatched(), all - known - most) << "others are known, of which all have sent";
}

TEST(TcpSampler, TwoDescriptorsOfAConnectionAreOneConnection) {
  Watch watch;
  watch.open(1, {.acknowledged_bytes = 200'000});
  watch.source.open[2] = watch.source.open.at(1);
  watch.look();
  EXPECT_EQ(watch.written().size(), tcp_total_count);
  watch.source.open.erase(1);
  watch.search();
  watch.source.open.at(2).second.acknowledged_bytes += 1'000;
  watch.look();
  EXPECT_EQ(watch.total(1, TcpTotal::sent_bytes), 1'000) << "by the other descriptor";
}

TEST(TcpSampler, AnotherConnectionWithTheSameFileNumberIsAnotherOne) {
  Watch watch;
  watch.open(1, {.acknowledged_bytes = 200'000});
  watch.look();
  watch.send(1, 1'000);
  watch.look();
  EXPECT_EQ(watch.total(1, TcpTotal::sent_bytes), 1'000);
  watch.source.open.at(1) = {ends_with(2), {.acknowledged_bytes = 150'000}};
  watch.search();
  watch.send(1, 2'000);
  watch.look();
  EXPECT_EQ(watch.total(2, TcpTotal::sent_bytes), 2'000);
  EXPECT_EQ(watch.total(1, TcpTotal::sent_bytes), 1'000);
}

TEST(TcpSampler, EndsWhereTheFilesCannotBeListedAnyMore) {
  Watch watch;
  watch.open(1, {.acknowledged_bytes = 200'000});
  watch.look();
  watch.send(1, 1'000);
  watch.source.can_list = false;
  watch.search();
  EXPECT_EQ(watch.total(1, TcpTotal::sent_bytes), 1'000);
  EXPECT_EQ(watch.unwatched(), 1);
  watch.source.can_list = true;
  watch.send(1, 1'000);
  watch.search();
  EXPECT_THAT(watch.written(), ::testing::ElementsAre(std::string{tcp_unwatched_name}));
}

}  // namespace
}  // namespace rankscope::collectors
