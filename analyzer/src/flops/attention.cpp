#include "flops/attention.h"

#include <algorithm>
#include <array>

#include "math/checked_product.h"

namespace rankscope::analyzer {
namespace {

enum class Order : std::uint8_t {
  heads_first,      ///< [batch, heads, positions, size of a head]
  positions_first,  ///< [batch, positions, heads, size of a head]
  packed,           ///< sequences one behind the other; their lengths are on the device
};

/// What says that a position sees only those before it.
enum class CausalAs : std::uint8_t { flag, mask_type };

struct Attention {
  std::string_view name;
  Order order;
  bool forward;
  std::size_t query;  ///< keys and values follow it
  std::size_t causal;
  CausalAs causal_as = CausalAs::flag;
  std::size_t packed = no_argument;  ///< a tensor of lengths there: packed sequences
  std::size_t window = no_argument;  ///< how many positions back one sees, if not below zero; behind it: ahead
};

// Of a chain only the innermost one that can be told is counted (counted_operators.cpp).
constexpr std::array attentions{
    Attention{"aten::_scaled_dot_product_flash_attention", Order::heads_first, true, 0, 4},
    Attention{"aten::_scaled_dot_product_flash_attention_backward", Order::heads_first, false, 1, 11, CausalAs::flag,
              6},
    Attention{"aten::_scaled_dot_product_efficient_attention", Order::heads_first, true, 0, 6},
    Attention{"aten::_scaled_dot_product_efficient_attention_backward", Order::heads_first, false, 1, 11},
    Attention{"aten::_scaled_dot_product_cudnn_attention", Order::heads_first, true, 0, 6},
    Attention{"aten::_scaled_dot_product_cudnn_attention_backward", Order::heads_first, false, 1, 14, CausalAs::flag,
              9},
    Attention{"aten::_scaled_dot_product_flash_attention_for_cpu", Order::heads_first, true, 0, 4},
    Attention{"aten::_scaled_dot_product_flash_attention_for_cpu_backward", Order::heads_first, false, 1, 7},
    Attention{"aten::_scaled_dot_product_fused_attention_overrideable", Order::heads_first, true, 0, 5},
    Attention{"aten::_scaled_dot_product_fused_attention_overrideable_backward", Order::heads_first, false, 1, 13,
              CausalAs::flag, 8},
    Attention{"aten::_cudnn_attention_forward", Order::heads_first, true, 0, 10, CausalAs::flag, 4},
    Attention{"aten::_cudnn_attention_backward", Order::heads_first, false, 1, 14, CausalAs::flag, 9},
    Attention{"aten::_flash_attention_forward", Order::positions_first, true, 0, 8, CausalAs::flag, 3},
    Attention{"aten::_flash_attention_backward", Order::positions_first, false, 1, 11, CausalAs::flag, 6},
    Attention{"aten::_efficient_attention_forward", Order::positions_first, true, 0, 9, CausalAs::mask_type, 4},
    Attention{"aten::_efficient_attention_backward", Order::positions_first, false, 1, 14, CausalAs::mask_type, 6},
    Attention{"flash_attn::_flash_attn_forward", Order::positions_first, true, 0, 5, CausalAs::flag, no_argument, 6},
    Attention{"flash_attn::_flash_attn_backward", Order::positions_first, false, 1, 11, CausalAs::flag, no_argument,
              12},
    Attention{"flash_attn::_flash_attn_varlen_forward", Order::packed, true, 0, no_argument},
    Attention{"flash_attn::_flash_attn_varlen_backward", Order::packed, false, 1, no_argument},
    Attention{"vllm::unified_attention", Order::packed, true, 0, no_argument},
    Attention{"vllm::unified_attention_with_output", Order::packed, true, 0, no_argument},
};

const Attention* attention_named(std::string_view name) {
  const auto found = std::ranges::find(attentions, name, &Attention::name);
  return found == attentions.end() ? nullptr : &*found;
}

std::optional<bool> is_causal(const Attention& attention, const OperatorInputs& inputs) {
  if (attention.causal_as == CausalAs::flag) return inputs.flag(attention.causal);
  const auto type = inputs.number(attention.causal);
  if (!type) return std::nullopt;
  return *type != 0;
}

bool sees_a_window(const Attention& attention, const OperatorInputs& inputs) {
  if (attention.window == no_argument) return false;
  return inputs.number(attention.window).value_or(-1) >= 0 || inputs.number(attention.window + 1).value_or(-1) > 0;
}

FlopResult flops_of_pairs(const Attention& attention, const OperatorInputs& inputs) {
  const auto query = inputs.sizes_of(attention.query);
  const auto key = inputs.sizes_of(attention.query + 1);
  const auto value = inputs.sizes_of(attention.query + 2);
  const bool fits = query && key && value && query->size() == 4 && key->size() == 4 && value->size() == 4;
  if (!fits) return not_countable(NotCountable::unusable_shapes);
  const std::size_t positions = attention.order == Order::heads_first ? 2 : 1;
  const std::size_t heads = 3 - positions;
  const Sizes& q = *query;
  const Sizes& k = *key;
  const Sizes& v = *value;
  // Several heads of queries may share one of keys and values.
  const bool agree = q[0] == k[0] && k[0] == v[0] && q[3] == k[3] && k[positions] == v[positions] && k[heads] > 0 &&
                     v[heads] == k[heads] && q[heads] % k[heads] == 0;
  if (!agree) return not_countable(NotCountable::unusable_shapes);
  const std::optional<bool> causal = is_causal(attention, inputs);
  const bool square = q[positions] == k[positions];
  const bool half = causal.value_or(false) && square;
  const auto pairs = product_of({half ? 1 : 2, q[0], q[heads], q[positions], k[positions]});
  const auto with_keys = pairs ? product_of({*pairs, q[3]}) : std::nullopt;
  const auto with_values = pairs ? product_of({*pairs, v[3]}) : std::nullopt;
  const auto told = [&](std::int64_t times_keys, std::int64_t times_values) -> std::optional<std::int64_t> {
    if (!with_keys || !with_values) return std::nullopt;
    auto sum = product_of({times_keys, *with_keys});
    const auto more = product_of({times_values, *with_values});
    if (!sum || !more || !add_fits(*sum, *more)) return std::nullopt;
    return sum;
  };
  // Backward: two products each for the gradients of keys and queries, two for those of values and weights; the kernels
  // compute the product of queries and keys again, since nobody stored it.
  const auto model = attention.forward ? told(1, 1) : told(2, 2);
  const auto executed = attention.forward ? model : told(3, 2);
  if (!model || !executed) return not_countable(NotCountable::too_large);
  return Flops{.model = *model,
               .executed = *executed,
               .kind = FlopClass::attention,
               .forward = attention.forward,
               .assumed = !causal && square};
}

}  // namespace

bool is_attention(std::string_view name) { return attention_named(name) != nullptr; }

std::size_t attention_query(std::string_view name) { return attention_named(name)->query; }

FlopResult flops_of_attention(std::string_view name, const OperatorInputs& inputs) {
  const Attention& attention = *attention_named(name);
  const bool packed = attention.order == Order::packed || inputs.has_tensor(attention.packed);
  if (packed || sees_a_window(attention, inputs)) return not_countable(NotCountable::not_told_by_shapes);
  return flops_of_pairs(attention, inputs);
}

}  // namespace rankscope::analyzer
