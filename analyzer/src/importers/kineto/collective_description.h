// What the spans around a piece of communication say about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rankscope/core/model/run_builder.h"
#include "words/element_type.h"

namespace rankscope::analyzer::kineto {

/// What is known of one operation; filled from the best source to the poorest. -1, empty: not told.
struct Description {
  std::string_view op{};
  ElementType type{};
  std::int64_t in = -1;
  std::int64_t out = -1;
  std::int64_t tensors = -1;  ///< elements of the recorded inputs
  std::int64_t group_size = -1;
  std::string group{};
  std::string members{};
  std::int64_t start = -1;
  std::int64_t stride = -1;
  std::int64_t sequence = -1;
  bool sequence_from_inputs = false;
  std::int64_t rank = -1;     ///< in the group: of a rooted operation the root (since 2024)
  std::int64_t partner = -1;  ///< in the group: of a send or receive
  std::int64_t source = -1;
  std::int64_t destination = -1;
};

/// Adds what one span says and nobody before it.
void describe(const RunBuilder& run, std::uint32_t span, Description& what);

/// Bytes on this rank (core/model/collective.h, metrics.md 6). -1: not known.
[[nodiscard]] std::int64_t bytes_of(const Description& what);

}  // namespace rankscope::analyzer::kineto
