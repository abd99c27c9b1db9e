#include "rankscope/core/model/tcp_counters.h"

#include <algorithm>
#include <array>

#include "rankscope/core/format.h"

namespace rankscope {
namespace {

constexpr std::string_view prefix = "tcp ";
constexpr std::string_view between_ends = " to ";
constexpr std::array<std::string_view, tcp_total_count> totals{"sent_bytes", "backlog_seconds", "backlog_bytes"};

}  // namespace

std::string counter_name_of(const TcpCounter& counter) {
  return format("{}{}{}{} {}", prefix, counter.local, between_ends, counter.remote,
                totals[static_cast<std::size_t>(counter.total)]);
}

std::optional<TcpCounter> tcp_counter_from(std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const std::size_t remote = name.find(between_ends);
  const std::size_t total = name.rfind(' ');
  if (remote == name.npos || total < remote + between_ends.size()) return std::nullopt;
  const auto found = std::ranges::find(totals, name.substr(total + 1));
  if (found == totals.end()) return std::nullopt;
  return TcpCounter{name.substr(0, remote),
                    name.substr(remote + between_ends.size(), total - remote - between_ends.size()),
                    static_cast<TcpTotal>(found - totals.begin())};
}

}  // namespace rankscope
