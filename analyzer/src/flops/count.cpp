#include "flops/count.h"

#include <algorithm>
#include <array>
#include <span>

#include "flops/attention.h"
#include "flops/convolution.h"
#include "math/checked_product.h"
#include "words/element_type.h"
#include "words/letters.h"

namespace rankscope::analyzer {
namespace {

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
