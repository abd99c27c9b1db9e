#include "host/tcp_source.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::collectors {
namespace {

constexpr std::uint8_t established = 1;  // TCP_ESTABLISHED, which only the header of libc has

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

}  // namespace

KernelTcpSource::KernelTcpSource() : folder_(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

std::optional<std::span<const int>> KernelTcpSource::files() {
  const int folder = folder_.file();
  if (folder < 0) return std::nullopt;
  files_.clear();
  lseek(folder, 0, SEEK_SET);
  // Not readdir: what it allocates can be freed only together with the descriptor.
  for (long size = 0; (size = syscall(SYS_getdents64, folder, buffer_.data(), buffer_.size())) > 0;)
    take(std::span{buffer_}.first(static_cast<std::size_t>(size)));
  return files_;
}

void KernelTcpSource::take(std::span<const char> entries) {
  while (entries.size() > offsetof(dirent64, d_name)) {
    std::uint16_t size = 0;
    std::memcpy(&size, entries.data() + offsetof(dirent64, d_reclen), sizeof size);
    if (const auto file = number_from<int>(entries.data() + offsetof(dirent64, d_name))) files_.push_back(*file);
    entries = entries.subspan(size);
  }
}

/// Nothing with a kernel before 4.10.
std::optional<TcpState> KernelTcpSource::state_of(int file) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  constexpr std::size_t needed = offsetof(tcp_info, tcpi_rwnd_limited) + sizeof info.tcpi_rwnd_limited;
  if (size < needed || info.tcpi_state != established) return std::nullopt;
  return TcpState{info.tcpi_bytes_acked, info.tcpi_bytes_received, info.tcpi_notsent_bytes, info.tcpi_rwnd_limited};
}

std::optional<TcpEnds> KernelTcpSource::ends_of(int file) {
  TcpEnds ends{end_of(file, [](int of, sockaddr* to, socklen_t* size) { return getsockname(of, to, size); }),
               end_of(file, [](int of, sockaddr* to, socklen_t* size) { return getpeername(of, to, size); })};
  if (ends.local.empty() || ends.remote.empty()) return std::nullopt;
  return ends;
}

}  // namespace rankscope::collectors
