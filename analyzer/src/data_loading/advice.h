// What helps ranks that wait for their data.
#pragma once

#include <cstdint>
#include <string>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// What the loaders of all ranks did while their ranks waited for data.
struct LoaderSums {
  std::int64_t waiting_ns = 0;  ///< of the ranks whose workers were recorded
  std::int64_t all_busy_ns = 0;
  std::int64_t some_busy_ns = 0;
  std::int64_t none_busy_ns = 0;
  std::int64_t workers = 0;  ///< of a rank, the most
  std::int64_t needed = 0;   ///< of a rank, the most; 0: not known
  bool own_thread = false;   ///< a rank that waits loads its batches itself
};
[[nodiscard]] LoaderSums sum_loaders(const Report& report);
[[nodiscard]] std::string advice_for_data(const LoaderSums& sums);

}  // namespace rankscope::analyzer
