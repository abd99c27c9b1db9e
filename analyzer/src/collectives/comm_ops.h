// What kind of operation a collective is: how many bytes count, its bus factor, and who waits for whom (metrics.md 6).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rankscope::analyzer {

/// Who waits for whom in an operation.
enum class WaitRule : std::uint8_t {
  all,           ///< nobody may end before everybody started
  root_is_last,  ///< the others wait for the root only
  root_waits,    ///< the root waits for the last
  pair,          ///< sender and receiver wait for each other
  unknown,       ///< cannot be split
};

/// Bus factor f as a function of the group's size.
enum class BusFactor : std::uint8_t { none, one, share_of_others, twice_share_of_others };

/// S of an operation from count x element size of a member.
enum class PayloadRule : std::uint8_t { as_given, times_group };

/// Must a member wait for the last_to_arrive one, which is the root of `root_is_last` and else the last
/// (metrics.md 6.1)?
[[nodiscard]] bool has_to_wait(WaitRule rule, bool is_root);

struct CommOp {
  std::string_view name;  ///< lower case, without separators
  WaitRule wait;
  BusFactor factor;
  PayloadRule payload;
  bool same_bytes;  ///< all members must give the same number of bytes
};

/// Understands "allreduce", "all_reduce", "AllReduce"; an unknown operation cannot be split.
[[nodiscard]] const CommOp& comm_op(std::string_view name);
[[nodiscard]] bool is_point_to_point(std::string_view name);
/// Of the two sides of a pair.
[[nodiscard]] bool is_send(std::string_view name);
[[nodiscard]] std::optional<std::int64_t> payload_bytes(const CommOp& op, std::int64_t member_bytes,
                                                        std::size_t group_size);
/// f of metrics.md 6; 0 where no bandwidth is defined.
[[nodiscard]] double bus_factor(const CommOp& op, std::size_t group_size);

}  // namespace rankscope::analyzer
