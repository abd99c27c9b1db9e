#include "host/tcp_sampler.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::collectors {
namespace {

constexpr std::int64_t search_period_ns = 1'000'000'000;
constexpr double longest_look_seconds = 0.1;  // after a longer pause nobody knows what waited
constexpr std::uint64_t least_bytes = 100'000;
constexpr std::uint8_t established = 1;  // TCP_ESTABLISHED, which only the header of libc has

/// Nothing of what is not a TCP connection, or of a kernel before 4.6.
std::optional<tcp_info> info_of(int file) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  constexpr std::size_t needed = offsetof(tcp_info, tcpi_notsent_bytes) + sizeof info.tcpi_notsent_bytes;
  if (size < needed || info.tcpi_state != established) return std::nullopt;
  return info;
}

std::string text_of(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &address, sizeof four);
    inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
    return format("{}:{}", text.data(), ntohs(four.sin_port));
  }
  if (address.ss_family != AF_INET6) return {};
  sockaddr_in6 six{};
  std::memcpy(&six, &address, sizeof six);
  inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
  // The other end may have an IPv4 socket.
  std::string_view host{text.data()};
  constexpr std::string_view mapped = "::ffff:";
  if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr) && host.starts_with(mapped))
    return format("{}:{}", host.substr(mapped.size()), ntohs(six.sin6_port));
  return format("[{}]:{}", host, ntohs(six.sin6_port));
}

using NameFunction = int (*)(int, sockaddr*, socklen_t*);
std::string end_of(int file, NameFunction name) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return name(file, reinterpret_cast<sockaddr*>(&address), &size) == 0 ? text_of(address) : std::string{};
}
std::string local_end(int file) {
  return end_of(file, [](int of, sockaddr* to, socklen_t* size) { return getsockname(of, to, size); });
}
std::string remote_end(int file) {
  return end_of(file, [](int of, sockaddr* to, socklen_t* size) { return getpeername(of, to, size); });
}

}  // namespace

TcpSampler::TcpSampler() : files_(opendir("/proc/self/fd")) {}

void TcpSampler::look(std::int64_t now_ns) {
  if (files_ == nullptr) return;
  if (last_search_ns_ == 0 || now_ns - last_search_ns_ >= search_period_ns) {
    last_search_ns_ = now_ns;
    search();
  }
  const double seconds = last_look_ns_ == 0 ? 0 : static_cast<double>(now_ns - last_look_ns_) * 1e-9;
  last_look_ns_ = now_ns;
  for (Connection& connection : connections_)
    if (const auto info = info_of(connection.file)) add(connection, *info, seconds);
}

/// Where data waits at one end of this time only, half of it counts.
void TcpSampler::add(Connection& connection, const tcp_info& info, double seconds) {
  if (info.tcpi_bytes_acked < connection.acknowledged) return;  // another connection by now, until the next search
  const std::uint64_t sent = info.tcpi_bytes_acked - connection.acknowledged;
  const bool waits = info.tcpi_notsent_bytes > 0;
  const bool seen = seconds <= longest_look_seconds;
  const double part = seen ? (waits ? 0.5 : 0) + (connection.waits ? 0.5 : 0) : 0;
  const auto total = [&](TcpTotal which) -> double& {
    return connection.totals[static_cast<std::size_t>(which)].value;
  };
  total(TcpTotal::sent_bytes) += static_cast<double>(sent);
  total(TcpTotal::backlog_seconds) += part * seconds;
  total(TcpTotal::backlog_bytes) += part * static_cast<double>(sent);
  connection.acknowledged = info.tcpi_bytes_acked;
  connection.recent += sent;
  connection.waits = waits;
}

void TcpSampler::search() {
  known_ = std::move(connections_);
  connections_.clear();
  rewinddir(files_.get());
  while (const dirent* const entry = readdir(files_.get()))  // NOLINT(concurrency-mt-unsafe): a folder of our own
    if (const auto file = number_from<int>(entry->d_name)) consider(*file);
  known_.clear();
  std::ranges::stable_sort(connections_, std::greater{}, &Connection::recent);
  const auto silent = std::ranges::find(connections_, std::uint64_t{0}, &Connection::recent);
  const auto busy = static_cast<std::size_t>(silent - connections_.begin());
  left_out_ = busy - std::min(busy, most_connections);
  if (connections_.size() > most_connections) connections_.resize(most_connections);
  for (Connection& connection : connections_) connection.recent = 0;
}

void TcpSampler::consider(int file) {
  const auto info = info_of(file);
  // What only receives is watched, too: its ends are those of a sender elsewhere.
  if (!info || info->tcpi_bytes_acked + info->tcpi_bytes_received < least_bytes) return;
  Connection connection{.file = file, .local = local_end(file), .remote = remote_end(file)};
  if (connection.local.empty() || connection.remote.empty()) return;
  const auto before = std::ranges::find_if(known_, [&](const Connection& known) {
    return known.file == file && known.local == connection.local && known.remote == connection.remote;
  });
  if (before != known_.end()) {
    connections_.push_back(std::move(*before));
    before->file = -1;
    return;
  }
  connection.acknowledged = connection.recent = info->tcpi_bytes_acked;
  for (std::size_t i = 0; i < tcp_total_count; ++i)
    connection.totals[i].name = counter_name_of({connection.local, connection.remote, static_cast<TcpTotal>(i)});
  connections_.push_back(std::move(connection));
}

std::span<const HostSample> TcpSampler::sample() {
  samples_.clear();
  for (Connection& connection : connections_) {
    for (Total& total : connection.totals) {
      const bool changed = total.value != total.written;
      if (changed || total.has_changed) samples_.push_back({total.name, total.value});
      total.has_changed = changed;
      total.written = total.value;
    }
  }
  if (left_out_ > 0) samples_.push_back({tcp_unwatched_name, static_cast<double>(left_out_)});
  return samples_;
}

}  // namespace rankscope::collectors
