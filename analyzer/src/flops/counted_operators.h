// Which calls of operators of a rank are counted as FLOPs, and which kernels are theirs (metrics.md 15.0).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "flops/count.h"
#include "rankscope/analyzer/kernels/section.h"
#include "rankscope/core/model/run_parts.h"
#include "split/device_work.h"

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

/// One counted call. Of calls that lie in each other (linear -> addmm) only the innermost one is counted whose FLOPs
/// can be told.
struct CountedCall {
  SpanId call;
  Flops flops;
  TensorCores cores = TensorCores::unknown;  ///< of its kernels, by their names
  bool recomputed = false;                   ///< a forward operator that ran again in a backward pass
  bool in_windows = false;                   ///< its first kernel (CPU ranks: the call) began there
  std::int64_t kernels_ns = 0;               ///< whole lengths of its kernels; CPU ranks: of the call
  std::int64_t exclusive_ns = 0;             ///< time of the windows charged to them
};

struct CountedOperators {
  std::vector<CountedCall> calls;
  std::array<std::int64_t, not_countable_count> lost_calls{};
  std::int64_t calls_without_work = 0;
  std::array<std::int64_t, compute_time_count> compute_parts{};  ///< exclusive times; of accelerators only
  std::int64_t devices = 1;
};

[[nodiscard]] CountedOperators count_operators(const Run& run, FlopCache& cache, RankId rank,
                                               const CountedWindows& windows);

}  // namespace rankscope::analyzer
