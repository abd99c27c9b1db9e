// What the name of a kernel tells.
#pragma once

#include <string_view>

#include "rankscope/analyzer/kernels/section.h"
#include "rankscope/analyzer/words.h"

namespace rankscope::analyzer {

/// By the table of docs/metrics.md 4.1.
[[nodiscard]] TensorCores tensor_cores_of(std::string_view name);

/// Matrix products and convolutions: what tensor cores are made for.
[[nodiscard]] bool multiplies_matrices(std::string_view name);

/// Reads each element and writes each element, as elementwise kernels, fills, copies and casts do.
[[nodiscard]] bool is_pointwise(std::string_view name);

}  // namespace rankscope::analyzer
