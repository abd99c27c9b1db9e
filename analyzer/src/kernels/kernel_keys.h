// What makes two activities of an accelerator comparable (metrics.md 0, "op key").
#pragma once

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

}  // namespace rankscope::analyzer
