// How long data of the ranks waited for TCP connections between them (metrics.md 6.10).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// What one rank sent to another one, or to an address that is none of a recorded rank, over the counted steps.
struct TcpLink {
  RankId from{};
  RankId to{};           ///< none: the other end was not recorded
  std::string remote{};  ///< its address, then
  std::int64_t connections = 0;
  std::int64_t sent_bytes = 0;
  double backlog_share = 0;      ///< of the time, of the connection on which data waited longest
  std::optional<double> gbps{};  ///< while data waited; nothing where none did
};

/// A link on which data waits longer than on the others.
struct SlowTcpLink {
  RankId from{};  ///< none: all links of the receiver
  RankId to{};    ///< none: all links of the sender
  double backlog_share = 0;
  double usual_share = 0;    ///< median of the other links of its kind that carry at least half as much
  std::size_t compared = 0;  ///< how many these are
  std::optional<double> gbps{};
  /// Per step: at most the exposed communication that is not waiting. Unknown without steps or collectives.
  std::optional<std::int64_t> cost_ns{};
};

/// Why most runs on accelerators have no such links.
inline constexpr std::string_view no_tcp_traffic = "no TCP connection was recorded on which a rank sent 100 kB or more";

/// Between which ranks data flowed over TCP, and where it had to wait to be sent.
struct TcpLinksSection {
  std::vector<TcpLink> links;     ///< by sender and receiver
  std::vector<SlowTcpLink> slow;  ///< what costs most first
  std::int64_t unwatched = 0;     ///< connections that were not sampled, of one rank at one time
};

}  // namespace rankscope::analyzer
