// Accelerators that several ranks use: such a device executes the kernels of one process at a time, so when a kernel
// begins is the device's choice.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rankscope/analyzer/stragglers/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

class SharedDevices {
 public:
  explicit SharedDevices(const Run& run);

  /// True where the rank uses one of them, and is slower in what depends on when its kernels and copies begin.
  [[nodiscard]] bool explain(const Straggler& row) const;
  /// "ranks 0, 1 share a GPU, which executes the kernels of one process at a time, ..."; of the first of them.
  [[nodiscard]] std::string text() const;

 private:
  std::map<StringId, std::vector<RankId>> ranks_;  ///< by the identity of the device; two or more, ascending
};

}  // namespace rankscope::analyzer
