// TCP connections of a rank as counters: their names, which the recorder writes and the analyzer reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// What is summed up for one direction of a connection, while its recorder watches it.
enum class TcpTotal : std::uint8_t {
  sent_bytes,       ///< that the other end has acknowledged
  backlog_seconds,  ///< in which data waited on this host for the network, not for the other end to read
  backlog_bytes,    ///< that were acknowledged in this time
};
inline constexpr std::size_t tcp_total_count = 3;

/// A counter of one connection. Both ends are written as "10.0.0.1:40543" or "[fe80::1]:40543".
struct TcpCounter {
  std::string_view local;
  std::string_view remote;
  TcpTotal total{};
};

/// Counter of the connections of a process that its recorder did not watch; those that send most are watched first.
inline constexpr std::string_view tcp_unwatched_name = "tcp_connections_unwatched";

/// "tcp 10.0.0.1:40543 to 10.0.0.2:51100 sent_bytes"
[[nodiscard]] std::string counter_name_of(const TcpCounter& counter);
/// Nothing where the name is not of this form; otherwise the ends are parts of `name`.
[[nodiscard]] std::optional<TcpCounter> tcp_counter_from(std::string_view name);

}  // namespace rankscope
