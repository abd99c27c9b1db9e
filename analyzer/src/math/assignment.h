// Pairs rows with columns so that the sum of the costs is as small as possible.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace rankscope::analyzer {

/// The cost of a row and a column that must not be paired.
inline constexpr double impossible = std::numeric_limits<double>::infinity();

/// The column of each of `size` rows. `costs` has the costs of the first row by column, then those of the second one,
/// and so on; none is negative. Nothing if every complete assignment has an impossible pair. Takes size³ steps.
[[nodiscard]] std::optional<std::vector<std::size_t>> cheapest_assignment(std::span<const double> costs,
                                                                          std::size_t size);

}  // namespace rankscope::analyzer
