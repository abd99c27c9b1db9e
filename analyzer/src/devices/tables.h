// What was sampled of the GPUs, as a table.
#pragma once

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// A line per device of each rank; no table where nothing was sampled. Of many ranks those that other tables show.
[[nodiscard]] std::vector<NotedTable> device_tables(const Report& report, std::size_t most);

}  // namespace rankscope::analyzer
