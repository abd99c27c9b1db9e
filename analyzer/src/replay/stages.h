// Pipeline stages as processes name them.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/graph.h"

namespace rankscope::analyzer::replay {

/// By row of Graph::ranks the stage that its process states ("stage" or "pp_rank"); empty where some rank does not.
[[nodiscard]] std::vector<std::int64_t> stages_of(const Graph& graph);

}  // namespace rankscope::analyzer::replay
