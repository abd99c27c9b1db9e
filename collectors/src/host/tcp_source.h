// The TCP connections among the open files of the own process, as the kernel reports them.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankscope/core/own_file.h"

namespace rankscope::collectors {

/// Of an established connection, since it was opened.
struct TcpState {
  std::uint64_t acknowledged_bytes = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t unsent_bytes = 0;  ///< that wait on this host now
  std::uint64_t peer_limited_us =
      0;  ///< time in which the other end had no room for more, in whole ticks of the kernel
};

/// Written as "10.0.0.1:40543" or "[fe80::1]:40543".
struct TcpEnds {
  std::string local;
  std::string remote;
  auto operator<=>(const TcpEnds&) const = default;
};

/// What TcpSampler asks.
class TcpSource {
 public:
  virtual ~TcpSource() = default;
  /// Numbers of the files that are open, valid until the next call; nothing once they can no longer be listed.
  [[nodiscard]] virtual std::optional<std::span<const int>> files() = 0;
  /// Nothing if the file is not an established TCP connection.
  [[nodiscard]] virtual std::optional<TcpState> state_of(int file) = 0;
  [[nodiscard]] virtual std::optional<TcpEnds> ends_of(int file) = 0;
};

/// Asks the kernel (TCP_INFO) and changes nothing. Holds one descriptor, and not a different one later: a program may
/// rely on the number of its next file.
class KernelTcpSource final : public TcpSource {
 public:
  KernelTcpSource();

  [[nodiscard]] std::optional<std::span<const int>> files() override;
  [[nodiscard]] std::optional<TcpState> state_of(int file) override;
  [[nodiscard]] std::optional<TcpEnds> ends_of(int file) override;

 private:
  void take(std::span<const char> entries);

  OwnFile folder_;
  std::array<char, 4096> buffer_{};
  std::vector<int> files_{};
};

}  // namespace rankscope::collectors
