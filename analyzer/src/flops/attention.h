// FLOP of fused attention (metrics.md 15.1): the products of queries with keys and of weights with values, for every
// pair of positions.
#pragma once

#include "flops/count.h"

namespace rankscope::analyzer {

[[nodiscard]] bool is_attention(std::string_view name);
/// The input that holds the queries.
[[nodiscard]] std::size_t attention_query(std::string_view name);
[[nodiscard]] FlopResult flops_of_attention(std::string_view name, const OperatorInputs& inputs);

}  // namespace rankscope::analyzer
