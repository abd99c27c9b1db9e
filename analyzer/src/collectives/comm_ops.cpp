#include "collectives/comm_ops.h"

#include <algorithm>
#include <array>
#include <string>

#include "math/checked_product.h"
#include "words/letters.h"

namespace rankscope::analyzer {
namespace {

using enum BusFactor;
using enum PayloadRule;

// metrics.md 6, table of operations (sizes and factors as in NVIDIA/nccl-tests src/*.cu).
constexpr std::array<CommOp, 12> operation_table{{
    {"allreduce", WaitRule::all, twice_share_of_others, as_given, true},
    {"reducescatter", WaitRule::all, share_of_others, times_group, true},
    {"allgather", WaitRule::all, share_of_others, times_group, true},
    {"alltoall", WaitRule::all, share_of_others, times_group, false},
    {"barrier", WaitRule::all, none, as_given, false},
    {"broadcast", WaitRule::root_is_last, one, as_given, true},
    {"scatter", WaitRule::root_is_last, share_of_others, times_group, false},
    {"reduce", WaitRule::root_waits, one, as_given, true},
    {"gather", WaitRule::root_waits, share_of_others, times_group, false},
    {"send", WaitRule::pair, one, as_given, true},
    {"recv", WaitRule::pair, one, as_given, true},
    {"", WaitRule::unknown, none, as_given, false},
}};

std::string plain(std::string_view name) {
  std::string text = lower(name);
  std::erase_if(text, [](char letter) { return letter == '_' || letter == '-' || letter == ' '; });
  return text;
}

}  // namespace

bool has_to_wait(WaitRule rule, bool is_root) {
  switch (rule) {
    case WaitRule::all:
    case WaitRule::pair:
      return true;
    case WaitRule::root_is_last:
      return !is_root;
    case WaitRule::root_waits:
      return is_root;
    case WaitRule::unknown:
      return false;
  }
  return false;
}

const CommOp& comm_op(std::string_view name) {
  const std::string wanted = plain(name);
  const auto found = std::ranges::find(operation_table, std::string_view{wanted}, &CommOp::name);
  return found == operation_table.end() ? operation_table.back() : *found;
}

bool is_send(std::string_view name) { return comm_op(name).name == "send"; }

bool is_point_to_point(std::string_view name) { return comm_op(name).wait == WaitRule::pair; }

std::optional<std::int64_t> payload_bytes(const CommOp& op, std::int64_t member_bytes, std::size_t group_size) {
  if (member_bytes < 0) return -1;
  switch (op.payload) {
    case PayloadRule::as_given:
      return member_bytes;
    case PayloadRule::times_group:
      return product_of({member_bytes, static_cast<std::int64_t>(group_size)});
  }
  return -1;
}

double bus_factor(const CommOp& op, std::size_t group_size) {
  const auto g = static_cast<double>(group_size);
  switch (op.factor) {
    case BusFactor::none:
      return 0;
    case BusFactor::one:
      return 1;
    case BusFactor::share_of_others:
      return (g - 1) / g;
    case BusFactor::twice_share_of_others:
      return 2 * (g - 1) / g;
  }
  return 0;
}

}  // namespace rankscope::analyzer
