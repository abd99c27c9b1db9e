#include "flops/count.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "math/checked_product.h"
#include "rankscope/core/numbers.h"
#include "words/element_type.h"
#include "words/letters.h"

namespace rankscope::analyzer {
namespace {

using InputsJson = nlohmann::json;

constexpr int deepest = 64;  // nesting of brackets: beyond it the parser's own recursion is the danger

/// Null for all that is no list, or is nested as no profiler writes it.
InputsJson list_from(std::string_view text) {
  bool too_deep = false;
  const auto shallow = [&too_deep](int depth, InputsJson::parse_event_t, const InputsJson&) {
    too_deep = too_deep || depth > deepest;
    return !too_deep;
  };
  InputsJson list = InputsJson::parse(text, shallow, false);
  return list.is_array() && !too_deep ? std::move(list) : InputsJson{};
}

/// Nothing unless all are whole numbers of 64 bits, none below zero.
std::optional<Sizes> sizes_from(const InputsJson& list) {
  if (!list.is_array()) return std::nullopt;
  Sizes sizes;
  for (const InputsJson& item : list) {
    const bool fits =
        item.is_number_integer() && (!item.is_number_unsigned() || item.get<std::uint64_t>() <= INT64_MAX);
    if (!fits || item.get<std::int64_t>() < 0) return std::nullopt;
    sizes.push_back(item.get<std::int64_t>());
  }
  return sizes;
}

std::vector<std::string> texts_from(std::string_view text) {
  std::vector<std::string> texts;
  const InputsJson list = list_from(text);
  for (const InputsJson& item : list) texts.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  return texts;
}

std::optional<bool> flag_from(std::string_view text) {
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return std::nullopt;
}

// FLOPs of fused attention (metrics.md 15.0): the products of queries with keys and of weights with values, for every
// pair of positions.

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

bool is_attention(std::string_view name) { return attention_named(name) != nullptr; }

/// The input that holds the queries.
std::size_t attention_query(std::string_view name) { return attention_named(name)->query; }

FlopResult flops_of_attention(std::string_view name, const OperatorInputs& inputs) {
  const Attention& attention = *attention_named(name);
  const bool packed = attention.order == Order::packed || inputs.has_tensor(attention.packed);
  if (packed || sees_a_window(attention, inputs)) return not_countable(NotCountable::not_told_by_shapes);
  return flops_of_pairs(attention, inputs);
}

/// How the two factors of a product lie among the inputs.
enum class Layout : std::uint8_t {
  plain,    ///< [m,k] [k,n]
  batched,  ///< [b,m,k] [b,k,n]
  vector,   ///< [m,k] [k]
  dot,      ///< [k] [k]
  linear,   ///< [...,k] [n,k]
  grouped,  ///< rows, columns or the inner size are cut into groups whose sizes are on the device
};

struct Product {
  std::string_view name;
  Layout layout;
  std::size_t first;  ///< input that is the left factor
  std::size_t second;
};
// Of a chain like linear -> addmm only the innermost one is counted (counted_operators.cpp).
constexpr std::array products{
    Product{"aten::mm", Layout::plain, 0, 1},
    Product{"aten::addmm", Layout::plain, 1, 2},
    Product{"aten::_addmm_activation", Layout::plain, 1, 2},
    Product{"aten::_scaled_mm", Layout::plain, 0, 1},
    Product{"aten::_int_mm", Layout::plain, 0, 1},
    Product{"_C::cutlass_scaled_mm", Layout::plain, 1, 2},
    Product{"aten::bmm", Layout::batched, 0, 1},
    Product{"aten::baddbmm", Layout::batched, 1, 2},
    Product{"aten::addbmm", Layout::batched, 1, 2},
    Product{"aten::mv", Layout::vector, 0, 1},
    Product{"aten::addmv", Layout::vector, 1, 2},
    Product{"aten::dot", Layout::dot, 0, 1},
    Product{"aten::vdot", Layout::dot, 0, 1},
    Product{"aten::linear", Layout::linear, 0, 1},
    Product{"aten::_grouped_mm", Layout::grouped, 0, 1},
    Product{"aten::_scaled_grouped_mm", Layout::grouped, 0, 1},
};

const Product* product_named(std::string_view name) {
  const auto found = std::ranges::find(products, name, &Product::name);
  return found == products.end() ? nullptr : &*found;
}

std::size_t dimensions(Layout layout) { return layout == Layout::batched ? 3 : layout == Layout::dot ? 1 : 2; }

/// The elements of all dimensions but the last.
std::optional<std::int64_t> rows_of(const Sizes& sizes) {
  std::int64_t rows = 1;
  for (const std::int64_t size : std::span{sizes}.first(sizes.size() - 1)) {
    const auto more = product_of({rows, size});
    if (!more) return std::nullopt;
    rows = *more;
  }
  return rows;
}

/// 2 · m · n · k of each matrix of the batch.
tl::expected<std::int64_t, NotCountable> flops_of_product(Layout layout, const Sizes& a, const Sizes& b) {
  const auto told = [](std::optional<std::int64_t> flops) -> tl::expected<std::int64_t, NotCountable> {
    if (!flops) return not_countable(NotCountable::too_large);
    return *flops;
  };
  const auto unusable = not_countable(NotCountable::unusable_shapes);
  const std::size_t dims = dimensions(layout);
  switch (layout) {
    case Layout::plain:
      if (a.size() != dims || b.size() != dims || a[1] != b[0]) return unusable;
      return told(product_of({2, a[0], a[1], b[1]}));
    case Layout::batched:
      if (a.size() != dims || b.size() != dims || a[2] != b[1] || a[0] != b[0]) return unusable;
      return told(product_of({2, a[0], a[1], a[2], b[2]}));
    case Layout::vector:
      if (a.size() != dims || b.size() != 1 || a[1] != b[0]) return unusable;
      return told(product_of({2, a[0], a[1]}));
    case Layout::dot:
      if (a.size() != dims || b.size() != dims || a[0] != b[0]) return unusable;
      return told(product_of({2, a[0]}));
    case Layout::linear: {
      if (a.empty() || b.size() != dims || a.back() != b[1]) return unusable;
      const auto rows = rows_of(a);
      return told(rows ? product_of({2, *rows, a.back(), b[0]}) : std::nullopt);
    }
    case Layout::grouped: {
      const bool fits = a.size() >= dims && a.size() <= 3 && b.size() >= dims && b.size() <= 3;
      if (!fits || a.back() != b[b.size() - 2]) return unusable;
      const bool one_each = a.size() == 3 && b.size() == 3;
      if (one_each && a[0] != b[0]) return unusable;
      return told(product_of({2, one_each ? a[0] : 1, a[a.size() - 2], a.back(), b.back()}));
    }
  }
  return unusable;
}

FlopResult flops_of_product(const Product& product, const OperatorInputs& inputs) {
  const auto a = inputs.sizes_of(product.first);
  const auto b = inputs.sizes_of(product.second);
  if (!a || !b) return not_countable(NotCountable::unusable_shapes);
  const auto flops = flops_of_product(product.layout, *a, *b);
  if (!flops) return not_countable(flops.error());
  return Flops{.model = *flops, .executed = *flops, .assumed = product.layout == Layout::grouped};
}

/// Of the first input with a type that is multiplied: scales and counters beside it have others.
tl::expected<Precision, NotCountable> precision_of(std::string_view type) {
  if (plain_letters(type).find("complex") != std::string::npos) return not_countable(NotCountable::complex_numbers);
  const std::string_view name = element_type_from(type).name;
  if (name == "f64") return Precision::fp64;
  if (name == "f32") return Precision::fp32;
  if (name == "bf16") return Precision::bf16;
  if (name == "f16") return Precision::fp16;
  if (name == "f8") return Precision::fp8;
  if (name == "i8" || name == "u8") return Precision::int8;
  return Precision::unknown;
}

/// The input whose type is that of the numbers that are multiplied.
std::size_t typed_input(std::string_view name) {
  if (const Product* const product = product_named(name)) return product->first;
  return is_attention(name) ? attention_query(name) : convolution_weight(name);
}

FlopResult flops_of_any(std::string_view name, const OperatorInputs& inputs, const ConvolutionOutputs& convolutions) {
  if (const Product* const product = product_named(name)) return flops_of_product(*product, inputs);
  if (is_attention(name)) return flops_of_attention(name, inputs);
  return flops_of_convolution(name, inputs, convolutions);
}

}  // namespace

std::optional<Sizes> OperatorInputs::sizes_of(std::size_t input) const {
  return input < sizes.size() ? sizes[input] : std::nullopt;
}

bool OperatorInputs::has_tensor(std::size_t input) const {
  if (input >= sizes.size()) return false;
  const auto& tensor = sizes[input];
  return !tensor || (!tensor->empty() && std::ranges::find(*tensor, 0) == tensor->end());
}

std::string_view OperatorInputs::type_of(std::size_t input) const {
  return input < types.size() ? std::string_view{types[input]} : std::string_view{};
}

std::optional<bool> OperatorInputs::flag(std::size_t input) const {
  return input < values.size() ? flag_from(values[input]) : std::nullopt;
}

std::optional<std::int64_t> OperatorInputs::number(std::size_t input) const {
  return input < values.size() ? number_from<std::int64_t>(values[input]) : std::nullopt;
}

std::optional<Sizes> OperatorInputs::numbers(std::size_t input) const {
  if (input >= values.size()) return std::nullopt;
  return sizes_from(list_from(values[input]));
}

std::optional<std::vector<bool>> OperatorInputs::flags(std::size_t input) const {
  if (input >= values.size() || !values[input].starts_with('[') || !values[input].ends_with(']')) return std::nullopt;
  std::string_view text{values[input]};
  text = text.substr(1, text.size() - 2);
  std::vector<bool> flags;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const auto flag = flag_from(item.substr(std::min(item.size(), item.find_first_not_of(' '))));
    if (!flag) return std::nullopt;
    flags.push_back(*flag);
  }
  return flags;
}

OperatorInputs inputs_from(std::string_view sizes, std::string_view types, std::string_view values) {
  OperatorInputs inputs;
  const InputsJson list = list_from(sizes);
  for (const InputsJson& item : list) inputs.sizes.push_back(sizes_from(item));
  inputs.types = texts_from(types);
  inputs.values = texts_from(values);
  return inputs;
}

bool has_flop_formula(std::string_view name) {
  return product_named(name) != nullptr || is_attention(name) || is_convolution(name);
}

FlopResult flops_of(std::string_view name, const OperatorInputs& inputs, const ConvolutionOutputs& convolutions) {
  if (inputs.sizes.empty()) return not_countable(NotCountable::no_shapes);
  FlopResult flops = flops_of_any(name, inputs, convolutions);
  if (!flops) return flops;
  const auto precision = precision_of(inputs.type_of(typed_input(name)));
  if (!precision) return not_countable(precision.error());
  flops->precision = *precision;
  return flops;
}

std::string_view name_of(FlopClass kind) {
  switch (kind) {
    case FlopClass::matrix:
      return "matrix";
    case FlopClass::convolution:
      return "convolution";
    case FlopClass::attention:
      return "attention";
  }
  return "?";
}

std::string_view name_of(NotCountable why) {
  switch (why) {
    case NotCountable::no_shapes:
      return "no_shapes";
    case NotCountable::unusable_shapes:
      return "unusable_shapes";
    case NotCountable::not_told_by_shapes:
      return "not_told_by_shapes";
    case NotCountable::complex_numbers:
      return "complex_numbers";
    case NotCountable::too_large:
      return "too_large";
  }
  return "?";
}

}  // namespace rankscope::analyzer
