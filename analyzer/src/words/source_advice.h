// What a user of each recording tool does about something that is missing: rankscope's options mean nothing to somebody
// who traced with torch.profiler or nsys.
#pragma once

#include <string_view>

#include "rankscope/analyzer/words.h"

namespace rankscope::analyzer {

/// How the next recording gets a section of the report. `steps_of_pytorch`: of programs that use PyTorch.
enum class Wanted : std::uint8_t {
  steps,
  steps_of_pytorch,
  time_of_ranks,
  all_ranks,
  collectives,
  groups_of_nccl,  ///< may be empty
  absent_ranks,
  memory,
  comparison
};
[[nodiscard]] std::string_view advice_for(Wanted wanted, std::string_view source);

/// In the place of "kineto" for jobs that communicate through Gloo: what helps with NCCL or CUDA does not help them.
inline constexpr std::string_view kineto_on_gloo = "kineto/gloo";

}  // namespace rankscope::analyzer
