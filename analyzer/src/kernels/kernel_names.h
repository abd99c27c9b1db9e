// What the name of a kernel tells.
#pragma once

#include <string_view>

#include "rankscope/analyzer/kernels/section.h"
#include "rankscope/analyzer/words.h"
#include "split/device_work.h"

namespace rankscope::analyzer {

/// Name, class, grid and block. Grid and block unset: not recorded, or all of them are meant.
struct KernelKey {
  StringId name{};
  ActivityClass kind = ActivityClass::compute;
  StringId grid{};
  StringId block{};
  auto operator<=>(const KernelKey&) const = default;
};

/// Finds the key of each activity of a run.
class KernelKeys {
 public:
  explicit KernelKeys(const Run& run);
  [[nodiscard]] KernelKey with_shape(const Activity& activity) const;
  [[nodiscard]] KernelKey without_shape(const Activity& activity) const;

 private:
  const Run& run_;
  StringId grid_;
  StringId block_;
};

/// By the table of docs/metrics.md 4.1.
[[nodiscard]] TensorCores tensor_cores_of(std::string_view name);

/// Matrix products and convolutions: what tensor cores are made for.
[[nodiscard]] bool multiplies_matrices(std::string_view name);

/// Reads each element and writes each element, as elementwise kernels, fills, copies and casts do.
[[nodiscard]] bool is_pointwise(std::string_view name);

}  // namespace rankscope::analyzer
