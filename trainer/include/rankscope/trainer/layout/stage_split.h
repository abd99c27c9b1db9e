// Which blocks of a model make which stage.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rankscope/core/result.h"

namespace rankscope::trainer {

/// Blocks of each stage, in order, so that the costliest stage costs as little as can be. Each stage gets at least one:
/// there must not be fewer blocks than stages.
[[nodiscard]] std::vector<std::size_t> balanced_split(std::span<const double> costs, std::size_t stages);

/// For errors: what is cut, into what, and what there could be fewer of.
struct SplitWords {
  std::string model;  ///< "mlp"
  std::string parts;  ///< "stages"
  std::string fewer;  ///< "ranks or chunks"
};

/// `split` ("2,1,3": blocks of each part), or a balanced one where it is empty. What does not fit is an error of kind
/// usage.
[[nodiscard]] Result<std::vector<std::size_t>> split_blocks(const std::string& split, std::span<const double> costs,
                                                            std::size_t parts, const SplitWords& words);

}  // namespace rankscope::trainer
