// Watches the TCP connections on which the own process sends: how much, and how long its data waits for the network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "host/sampler.h"
#include "host/tcp_source.h"
#include "rankscope/core/model/tcp_counters.h"

namespace rankscope::collectors {

/// Connections that carried less than 100 kB are left alone.
class TcpSampler {
 public:
  /// Those that send most: they are looked at. Who was watched gives way only to one that sent twice as much.
  static constexpr std::size_t most_watched = 16;
  /// Of the others those that receive most: their totals are written as they are, since the analyzer finds the rank
  /// that a connection leads to by the ends that this rank has written.
  static constexpr std::size_t most_receiving = 16;
  static constexpr std::size_t most_known = 1024;  ///< those that were seen first

  explicit TcpSampler(TcpSource& source) : source_(source) {}

  /// Looks whether data waits; to be called every few milliseconds with the time of a monotonic clock.
  void look(std::int64_t now_ns);
  /// The totals that have changed, named as core/model/tcp_counters.h says, and the number of connections that are not
  /// watched. Valid until the next call of this object.
  [[nodiscard]] std::span<const HostSample> sample();

 private:
  enum class Place : std::uint8_t {
    apart,    ///< only known
    leaving,  ///< the next sample is its last
    receiving,
    watched,
  };
  struct Total {
    std::string name{};
    double value = 0;
    double written = -1;      ///< by the last sample
    bool has_changed = true;  ///< before the last sample, so that what follows begins there
  };
  struct Connection {
    int file = -1;
    Place place = Place::apart;
    std::uint32_t search = 0;  ///< that saw it last
    // What it had carried at this search, and how much of that since the one before.
    std::uint64_t carried_sent = 0;
    std::uint64_t carried_received = 0;
    std::uint64_t sent_lately = 0;
    std::uint64_t received_lately = 0;
    // At the last look.
    std::uint64_t acknowledged = 0;
    std::uint64_t peer_limited_us = 0;
    bool waits = false;
    double peer_seconds = 0;  ///< in which the other end had no room, not taken off the backlog yet
    std::array<Total, tcp_total_count> totals{};
  };

  static void begin(Connection& connection, const TcpState& state);
  static void add(Connection& connection, const TcpState& state, double seconds);
  static void put(Connection& connection, Place place);
  void search();
  void consider(int file);
  void rank();
  void end();

  TcpSource& source_;
  std::map<TcpEnds, Connection> connections_{};
  std::vector<Connection*> ranked_{};  ///< during a search
  std::vector<Connection*> watched_{};
  std::vector<HostSample> samples_{};
  std::int64_t last_search_ns_ = 0;
  std::int64_t last_look_ns_ = 0;
  std::uint32_t search_ = 0;
  std::size_t unknown_ = 0;  ///< connections of the last search
  std::size_t left_out_ = 0;
  bool ended_ = false;
};

}  // namespace rankscope::collectors
