// Watches the TCP connections on which the own process sends: how much, and how long its data waits for the network.
#pragma once

#include <dirent.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/sampler.h"
#include "rankscope/core/model/tcp_counters.h"

struct tcp_info;

namespace rankscope::collectors {

/// Asks the kernel (TCP_INFO) and changes nothing. Connections that carried less than 100 kB are left alone.
class TcpSampler {
 public:
  static constexpr std::size_t most_connections = 16;  ///< that are watched: those that send most

  TcpSampler();

  /// Looks whether data waits; to be called every few milliseconds with the time of a monotonic clock.
  void look(std::int64_t now_ns);
  /// The totals that have changed, named as core/model/tcp_counters.h says, and the number of connections that are not
  /// watched. Valid until the next call of this object.
  [[nodiscard]] std::span<const HostSample> sample();

 private:
  struct Total {
    std::string name;
    double value = 0;
    double written = -1;      ///< by the last sample
    bool has_changed = true;  ///< before the last sample, so that what follows begins there
  };
  struct Connection {
    int file = -1;
    std::string local{};
    std::string remote{};
    std::uint64_t acknowledged = 0;
    std::uint64_t recent = 0;  ///< bytes since the last search
    bool waits = false;
    std::array<Total, tcp_total_count> totals{};
  };
  struct CloseFolder {
    void operator()(DIR* folder) const { closedir(folder); }
  };

  void search();
  void consider(int file);
  static void add(Connection& connection, const tcp_info& info, double seconds);

  std::unique_ptr<DIR, CloseFolder> files_;  ///< stays open: a program may rely on the number of its next file
  std::vector<Connection> connections_{};
  std::vector<Connection> known_{};  ///< during a search
  std::vector<HostSample> samples_{};
  std::int64_t last_search_ns_ = 0;
  std::int64_t last_look_ns_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace rankscope::collectors
