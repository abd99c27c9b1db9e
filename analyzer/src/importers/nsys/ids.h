// Nsight Systems' serialized ids: machine, process and thread in one number.
#pragma once

#include <cstdint>

namespace rankscope::analyzer::nsys {

/// A process of one export: a global id without its thread.
struct ProcessKey {
  std::int64_t value = 0;
  static constexpr ProcessKey of(std::int64_t global_id) { return {global_id & ~std::int64_t{0xFFFFFF}}; }
  [[nodiscard]] constexpr std::int64_t pid() const { return (value >> 24) & 0xFFFFFF; }
  auto operator<=>(const ProcessKey&) const = default;
};

constexpr std::int64_t thread_of(std::int64_t global_tid) { return global_tid & 0xFFFFFF; }

/// What stands for "no value" in columns of 32 bits.
constexpr std::int64_t no_value_32 = 0xFFFFFFFF;

}  // namespace rankscope::analyzer::nsys
