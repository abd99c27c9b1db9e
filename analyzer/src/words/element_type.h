// Element types of tensors, in the words of all tools.
#pragma once

#include <string_view>

namespace rankscope::analyzer {

/// Our name of an element type ("f32") and its size, from torch's ("Float"), C++'s ("c10::BFloat16") or ours.
struct ElementType {
  std::string_view name{};
  int bytes = 0;  ///< 0 = unknown type
  std::string_view torch_name{};
};
[[nodiscard]] ElementType element_type_from(std::string_view name);

}  // namespace rankscope::analyzer
