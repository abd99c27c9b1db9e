// Tensors as a checkpoint knows them: a name, an element type, a shape, and flat ranges of elements in row-major order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::trainer {

/// The element types of safetensors.
enum class ElementType : std::uint8_t {
  boolean,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  u16,
  i16,
  f16,
  bf16,
  u32,
  i32,
  f32,
  u64,
  i64,
  f64
};

[[nodiscard]] std::string_view name_of(ElementType type);  ///< as in the file: "F32"
[[nodiscard]] std::int64_t bytes_of(ElementType type);     ///< of one element
[[nodiscard]] std::optional<ElementType> element_type_named(std::string_view name);

/// Elements [begin, end) of a tensor, counted in row-major order over the whole of it.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t count() const { return end - begin; }
  bool operator==(const ElementRange&) const = default;
};

/// A tensor of the model, wherever its elements are.
struct TensorInfo {
  std::string name;
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape{};  ///< empty: one element

  bool operator==(const TensorInfo&) const = default;
};

/// Elements of a tensor; nothing if a size is negative or their bytes do not fit into 63 bits.
[[nodiscard]] std::optional<std::int64_t> elements_of(const TensorInfo& tensor);

/// Part of a tensor in memory: `bytes` are those of `range`, which lies within the tensor.
struct TensorSlice {
  TensorInfo tensor;
  ElementRange range;
  std::span<const std::byte> bytes;
};

/// Name of the local part of a tensor that is split over ranks: part_name("w", "tp", 1, 2) is "w@tp1of2". A part is a
/// tensor of its own, with its own shape, and is only read back under the same name.
[[nodiscard]] std::string part_name(std::string_view tensor, std::string_view dimension, int index, int parts);

/// What names are made of: printable ASCII without brackets, which mark ranges in files.
[[nodiscard]] bool is_tensor_name(std::string_view name);

}  // namespace rankscope::trainer
