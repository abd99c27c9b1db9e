#include "inject/c10d/tensors.h"

#include <array>

#include "inject/c10d/relocations.h"

namespace rankscope::inject::c10d {
namespace {

using Count = std::int32_t (*)(const Tensor* tensor, std::int64_t* count);
using Type = std::int32_t (*)(const Tensor* tensor, std::int32_t* type);
Count count_of = nullptr;
Type type_of = nullptr;

struct Element {
  std::string_view name;
  std::int64_t bytes;
};

// By c10::ScalarType, which is stored in files and therefore never renumbered.
constexpr std::array<Element, 16> elements{{{"u8", 1},
                                            {"i8", 1},
                                            {"i16", 2},
                                            {"i32", 4},
                                            {"i64", 8},
                                            {"f16", 2},
                                            {"f32", 4},
                                            {"f64", 8},
                                            {"c32", 4},
                                            {"c64", 8},
                                            {"c128", 16},
                                            {"bool", 1},
                                            {"qi8", 1},
                                            {"qu8", 1},
                                            {"qi32", 4},
                                            {"bf16", 2}}};
constexpr std::int32_t first_f8 = 23, last_f8 = 26;

Element element_of(std::int32_t type) {
  if (type >= 0 && static_cast<std::size_t>(type) < elements.size()) return elements[static_cast<std::size_t>(type)];
  if (type >= first_f8 && type <= last_f8) return {"f8", 1};
  return {"", 0};
}

}  // namespace

bool load_tensor_functions(const char* library) {
  count_of = reinterpret_cast<Count>(exported_by(library, "aoti_torch_get_numel"));
  type_of = reinterpret_cast<Type>(exported_by(library, "aoti_torch_get_dtype"));
  return count_of != nullptr && type_of != nullptr;
}

Payload payload_of(const Tensor& tensor) noexcept {
  std::int64_t count = 0;
  std::int32_t type = -1;
  if (count_of == nullptr || type_of == nullptr || tensor.implementation == nullptr) return {};
  if (count_of(&tensor, &count) != 0 || type_of(&tensor, &type) != 0) return {};
  const Element element = element_of(type);
  std::int64_t bytes = 0;
  if (element.bytes == 0 || __builtin_mul_overflow(count, element.bytes, &bytes)) return {-1, element.name};
  return {bytes, element.name};
}

Payload payload_of(const Tensors& tensors) noexcept {
  if (tensors.empty()) return {};
  Payload all = payload_of(tensors.front());
  for (std::size_t i = 1; i < tensors.size() && all.bytes >= 0; ++i) {
    const Payload one = payload_of(tensors[i]);
    if (one.bytes < 0 || __builtin_add_overflow(all.bytes, one.bytes, &all.bytes)) all.bytes = -1;
  }
  return all;
}

}  // namespace rankscope::inject::c10d
