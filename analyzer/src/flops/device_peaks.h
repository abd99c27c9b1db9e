// What devices can compute at most, by their makers' data sheets (metrics.md 15.1).
#pragma once

#include <optional>
#include <string_view>

#include "rankscope/analyzer/flops/section.h"

namespace rankscope::analyzer {

/// Peaks of one device in TFLOP/s, dense: without the doubling that zeros in fixed places give. Those of matrix units
/// accumulate in FP32, as PyTorch does. Of a card with several dies that are devices of their own: of one die.
struct DevicePeaks {
  std::string_view name;  ///< as it is found in the device's name
  double fp64 = 0;        ///< 0: it has none, or the maker does not say
  double fp64_matrix = 0;
  double fp32 = 0;
  double fp32_matrix = 0;  ///< TF32 of NVIDIA, FP32 matrix units of AMD
  double bf16 = 0;
  double fp16 = 0;
  double fp8 = 0;
  double int8 = 0;
  std::string_view source;

  [[nodiscard]] std::optional<double> of(Precision precision) const;
};

/// By the device's product name; null for a device that is not in the table.
[[nodiscard]] const DevicePeaks* peaks_of(std::string_view device);

}  // namespace rankscope::analyzer
