// Why nothing ran on accelerators, for people.
#pragma once

#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// The `most` longest reasons and the rest; nothing where no rank has an accelerator.
[[nodiscard]] std::vector<NotedTable> idle_tables(const Report& report, std::size_t most);

}  // namespace rankscope::analyzer
