// Floating-point operations of one operator call, from its inputs (metrics.md 15.0). A multiplication and an addition
// are two.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/analyzer/flops/section.h"

namespace rankscope::analyzer {

/// Sizes of a tensor, outermost first; empty for a scalar and for what is no tensor.
using Sizes = std::vector<std::int64_t>;

struct OperatorInputs {
  std::vector<std::optional<Sizes>> sizes;  ///< per input; nothing for a list of tensors, or sizes that are none
  std::vector<std::string> types;           ///< per input, or empty: not recorded
  std::vector<std::string> values;          ///< per input, "" for tensors; empty: not recorded

  /// Nothing for an input that is absent or no plain tensor; sizes below zero are none, a size of zero is one.
  [[nodiscard]] std::optional<Sizes> sizes_of(std::size_t input) const;
  /// True if a tensor that holds anything, or a list, was passed there.
  [[nodiscard]] bool has_tensor(std::size_t input) const;
  [[nodiscard]] std::string_view type_of(std::size_t input) const;
  /// Of a bool, in Python's words ("True") or as a number; nothing where it was not recorded.
  [[nodiscard]] std::optional<bool> flag(std::size_t input) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::size_t input) const;
  /// "[1, 1]"
  [[nodiscard]] std::optional<Sizes> numbers(std::size_t input) const;
  /// "[True, True, False]"
  [[nodiscard]] std::optional<std::vector<bool>> flags(std::size_t input) const;
};

/// Texts of the attributes as JSON ("[[2,3],[]]", "[\"float\",\"\"]", "[\"\",\"True\"]"), empty where one is absent.
/// What is no such JSON counts as not recorded.
[[nodiscard]] OperatorInputs inputs_from(std::string_view sizes, std::string_view types, std::string_view values);

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

/// True for operators that multiply matrices, convolve or attend, whether or not their FLOPs can be told.
[[nodiscard]] bool has_flop_formula(std::string_view name);
/// The operator must have a formula.
[[nodiscard]] FlopResult flops_of(std::string_view name, const OperatorInputs& inputs,
                                  const ConvolutionOutputs& convolutions);

// FLOPs of convolutions (metrics.md 15.0): twice the batch, the size of the output plane and the weight, also of each
// of the two gradients.

[[nodiscard]] bool is_convolution(std::string_view name);
/// The input that is the weight, or has its type.
[[nodiscard]] std::size_t convolution_weight(std::string_view name);
[[nodiscard]] FlopResult flops_of_convolution(std::string_view name, const OperatorInputs& inputs,
                                              const ConvolutionOutputs& convolutions);

}  // namespace rankscope::analyzer
