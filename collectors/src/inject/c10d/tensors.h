// How much a collective moves, from at::Tensor, through the C functions of libtorch that are kept stable for compiled
// models (torch/csrc/inductor/aoti_torch/c/shim.h). A tensor is one pointer, and a list of them a std::vector.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope::inject::c10d {

struct Tensor {
  void* implementation;
};
using Tensors = std::vector<Tensor>;
using TensorLists = std::vector<Tensors>;

/// Of one rank.
struct Payload {
  std::int64_t bytes = -1;   ///< -1 = not known
  std::string_view dtype{};  ///< "f32", of the first tensor; empty = not known
};

/// False if the library lacks these functions.
[[nodiscard]] bool load_tensor_functions(const char* library);

[[nodiscard]] Payload payload_of(const Tensor& tensor) noexcept;
/// Of all of them together.
[[nodiscard]] Payload payload_of(const Tensors& tensors) noexcept;

}  // namespace rankscope::inject::c10d
