// Copies and waits for the device, for people.
#pragma once

#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Nothing where no rank has an accelerator, or nothing of the kind was recorded.
[[nodiscard]] std::vector<NotedTable> copy_tables(const Report& report, std::size_t most);

}  // namespace rankscope::analyzer
