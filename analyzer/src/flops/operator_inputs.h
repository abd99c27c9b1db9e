// The inputs of one operator call as its profiler recorded them: sizes, element types, and values of what is no tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace rankscope::analyzer
