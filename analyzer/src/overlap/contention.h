// Which kernels are slower while communication runs beside them (metrics.md 3.5).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/kernel_keys.h"
#include "rankscope/analyzer/overlap/section.h"
#include "split/layers.h"
#include "steps/counted_windows.h"

namespace rankscope::analyzer {

/// Collects kernels of several ranks.
class Contention {
 public:
  explicit Contention(const Run& run) : run_(run), key_of_(run) {}

  void add(RankId rank, const CountedWindows& windows, const Layers& layers);
  /// Keys (name, grid, block) with at least 10 launches of each kind whose medians differ by 5 % or more, the costliest
  /// first.
  [[nodiscard]] std::vector<ContendedKernel> slower() const;
  [[nodiscard]] std::string why_none_compared() const;

 private:
  struct Durations {
    std::vector<std::int64_t> beside;
    std::vector<std::int64_t> alone;
    [[nodiscard]] bool enough() const;
  };
  const Run& run_;
  KernelKeys key_of_;
  std::map<KernelKey, Durations> by_key_;
};

}  // namespace rankscope::analyzer
