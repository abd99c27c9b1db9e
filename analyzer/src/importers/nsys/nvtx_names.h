// What the name of an NVTX range tells: PyTorch's emit_nvtx packs details of an operator into it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rankscope/core/model/span.h"

namespace rankscope::analyzer::nsys {

/// "aten::mm, seq = 5, op_id = 12, sizes = [[2, 3], [3, 4]], input_op_ids = [(7,0), (9,0)]", taken apart.
struct RangeName {
  std::string_view name{};
  std::optional<std::int64_t> sequence{};
  std::optional<std::int64_t> op_id{};
  std::string_view sizes{};  ///< JSON
  std::string inputs{};      ///< JSON: [[7,0],[9,0]]
};
[[nodiscard]] RangeName parse_range_name(std::string_view text);

/// What a range of a program (not of NCCL) is, and its index if it is a step of PyTorch's profiler.
struct RangeKind {
  SpanKind kind = SpanKind::user;
  std::optional<std::int64_t> index{};
};
[[nodiscard]] RangeKind kind_of_range(const RangeName& name);

}  // namespace rankscope::analyzer::nsys
