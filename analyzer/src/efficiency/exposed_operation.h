// Which operation has most of the communication that no computation hides, and how it is hidden.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rankscope/analyzer/overlap/section.h"

namespace rankscope::analyzer {

/// What hides an operation: it depends on what the program does with the result.
enum class CommUse : std::uint8_t {
  reduction,  ///< gradients: all-reduce, reduce-scatter
  gathering,  ///< parameters: all-gather
  exchange,   ///< between layers: all-to-all, send and receive
  other
};

struct ExposedOperation {
  std::string_view name{};  ///< "all-reduce"; empty: not known which
  CommUse use = CommUse::other;
  std::int64_t exposed_ns = 0;  ///< of all rows of that name
};

/// By names of collectives and kernels: "allreduce", "ncclDevKernel_SendRecv(...)".
[[nodiscard]] ExposedOperation operation_named(std::string_view name);
/// The one with the most exposed time.
[[nodiscard]] ExposedOperation most_exposed(const OverlapSection& section);
/// What hides it.
[[nodiscard]] std::string_view advice_to_hide(CommUse use);

}  // namespace rankscope::analyzer
