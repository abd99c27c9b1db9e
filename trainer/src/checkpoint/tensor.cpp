#include "rankscope/trainer/checkpoint/tensor.h"

#include <algorithm>
#include <array>
#include <limits>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

struct TypeRow {
  ElementType type;
  std::string_view name;
  std::int64_t bytes;
};

using enum ElementType;
constexpr std::array types{
    TypeRow{boolean, "BOOL", 1},    TypeRow{u8, "U8", 1},   TypeRow{i8, "I8", 1},   TypeRow{f8_e5m2, "F8_E5M2", 1},
    TypeRow{f8_e4m3, "F8_E4M3", 1}, TypeRow{u16, "U16", 2}, TypeRow{i16, "I16", 2}, TypeRow{f16, "F16", 2},
    TypeRow{bf16, "BF16", 2},       TypeRow{u32, "U32", 4}, TypeRow{i32, "I32", 4}, TypeRow{f32, "F32", 4},
    TypeRow{u64, "U64", 8},         TypeRow{i64, "I64", 8}, TypeRow{f64, "F64", 8},
};

// The rows stand in the order of the enumerators.
const TypeRow& row_of(ElementType type) { return types[static_cast<std::size_t>(type)]; }
static_assert(std::ranges::is_sorted(types, {}, &TypeRow::type) && types.back().type == f64);

}  // namespace

std::string_view name_of(ElementType type) { return row_of(type).name; }
std::int64_t bytes_of(ElementType type) { return row_of(type).bytes; }

std::optional<ElementType> element_type_named(std::string_view name) {
  const auto* const row = std::ranges::find(types, name, &TypeRow::name);
  return row == types.end() ? std::nullopt : std::optional{row->type};
}

std::optional<std::int64_t> elements_of(const TensorInfo& tensor) {
  if (std::ranges::any_of(tensor.shape, [](std::int64_t size) { return size < 0; })) return std::nullopt;
  if (std::ranges::count(tensor.shape, 0) > 0) return 0;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / bytes_of(tensor.type);
  std::int64_t elements = 1;
  for (const std::int64_t size : tensor.shape) {
    if (elements > most / size) return std::nullopt;
    elements *= size;
  }
  return elements;
}

std::string part_name(std::string_view tensor, std::string_view dimension, int index, int parts) {
  return format("{}@{}{}of{}", tensor, dimension, index, parts);
}

bool is_tensor_name(std::string_view name) {
  const auto is_allowed = [](char c) { return c > ' ' && c < '\x7f' && c != '[' && c != ']'; };
  return !name.empty() && name != "__metadata__" && std::ranges::all_of(name, is_allowed);
}

}  // namespace rankscope::trainer
