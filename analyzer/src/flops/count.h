// Floating-point operations of one operator call, from its inputs (metrics.md 15.1). A multiplication and an addition
// are two.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "flops/operator_inputs.h"
#include "rankscope/analyzer/flops/section.h"

namespace rankscope::analyzer {

/// What one call computes.
struct Flops {
  std::int64_t model = 0;     ///< without what is computed again
  std::int64_t executed = 0;  ///< the same or more
  Precision precision = Precision::unknown;
  FlopClass kind = FlopClass::matrix;
  bool forward = true;   ///< false: of a backward pass
  bool assumed = false;  ///< something that halves it at most was not recorded: counted in full

  bool operator==(const Flops&) const = default;
};
using FlopResult = tl::expected<Flops, NotCountable>;
[[nodiscard]] inline tl::unexpected<NotCountable> not_countable(NotCountable why) { return tl::make_unexpected(why); }

/// In tables of operators: it has no such argument.
inline constexpr std::size_t no_argument = 99;

/// Sizes of the outputs of convolutions, as their backward passes tell them: for recordings that lack strides.
class ConvolutionOutputs {
 public:
  /// Operators that tell.
  [[nodiscard]] static std::vector<std::string_view> names();
  /// Does nothing for other operators.
  void learn(std::string_view name, const OperatorInputs& inputs);
  /// Nothing if no backward pass of this input and weight is known, or several disagree.
  [[nodiscard]] std::optional<Sizes> of(const Sizes& in, const Sizes& kernel) const;

 private:
  std::map<std::pair<Sizes, Sizes>, std::optional<Sizes>> outputs_;  // by input and weight; nothing: they disagree
};

/// True for operators that multiply matrices, convolve or attend, whether or not their FLOP can be told.
[[nodiscard]] bool has_flop_formula(std::string_view name);
/// The operator must have a formula.
[[nodiscard]] FlopResult flops_of(std::string_view name, const OperatorInputs& inputs,
                                  const ConvolutionOutputs& convolutions);

}  // namespace rankscope::analyzer
