// FLOP of the operator calls of a run, and what the names of its kernels tell: each name is looked at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "flops/count.h"
#include "rankscope/analyzer/kernels/section.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

/// By the name of a kernel.
struct KernelTraits {
  TensorCores tensor_cores = TensorCores::unknown;
  bool multiplies_matrices = false;  ///< for operators that have no formula
};

class FlopCache {
 public:
  explicit FlopCache(const Run& run);

  [[nodiscard]] bool has_formula(StringId name);
  /// The operator must have a formula. The result stays where it is.
  [[nodiscard]] const FlopResult& of(SpanId call);
  /// Sizes of its inputs as text; unset: not recorded.
  [[nodiscard]] StringId sizes_of(SpanId call) const;
  [[nodiscard]] const KernelTraits& kernel(StringId name);

 private:
  /// The first of two spellings that the run knows: that of Kineto, and that of our recorder.
  struct Keys {
    StringId sizes;
    StringId types;
    StringId values;
  };
  [[nodiscard]] StringId text_of(SpanId call, StringId key) const;
  [[nodiscard]] OperatorInputs inputs_of(SpanId call) const;
  void learn_convolutions();

  const Run& run_;
  Keys keys_;
  std::vector<std::uint8_t> known_;                   // by name: 0 = no formula, 1 = one, 2 = not looked up
  std::vector<std::optional<KernelTraits>> kernels_;  // by name
  ConvolutionOutputs convolutions_;
  std::map<std::tuple<StringId, StringId, StringId, StringId>, FlopResult> results_;  // by name and texts
};

}  // namespace rankscope::analyzer
