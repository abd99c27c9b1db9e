// Which cores a rank may use.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rankscope/core/result.h"

namespace rankscope::trainer {

/// Of the ranks of one machine.
struct CoreShare {
  int rank = 0;
  int ranks = 1;
  int threads = 1;  ///< of each rank, which it needs a core for
};

/// Equal parts of `allowed` (ascending), one behind the other; what is left over is nobody's. An error of kind usage
/// where a rank would get fewer cores than it has threads.
[[nodiscard]] Result<std::vector<int>> cores_of(std::span<const int> allowed, const CoreShare& share);

/// The cores that this process may use, ascending.
[[nodiscard]] std::vector<int> allowed_cores();

/// Of this machine.
[[nodiscard]] std::size_t online_cores();

/// Keeps this process, with all threads that it starts later, on its share of them, and returns that as text: "0-3,8".
[[nodiscard]] Result<std::string> bind_to_cores(const CoreShare& share);

}  // namespace rankscope::trainer
