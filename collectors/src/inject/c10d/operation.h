// What is kept of an announced operation, by the objects of the library that carry it out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankscope::inject::c10d {

enum class Op : std::uint8_t {
  none,
  allreduce,
  broadcast,
  reduce,
  allgather,
  gather,
  scatter,
  reduce_scatter,
  alltoall,
  barrier,
  send,
  recv,
};
inline constexpr std::size_t op_count = 12;

/// Its number, and what it is. Later ones are larger, whatever they are. 0: it is not stored.
using Operation = std::uint64_t;
inline constexpr unsigned op_bits = 8;

/// Numbers have at most 56 bits.
constexpr Operation packed(std::uint64_t number, Op op) { return number << op_bits | static_cast<std::uint8_t>(op); }
constexpr std::uint64_t number_of(Operation operation) { return operation >> op_bits; }
constexpr Op op_of(Operation operation) { return static_cast<Op>(operation & ((1U << op_bits) - 1)); }

}  // namespace rankscope::inject::c10d
