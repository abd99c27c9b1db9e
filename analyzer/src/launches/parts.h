// The section on launches: how it is found, its tables and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/launches/section.h"
#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/model/run_parts.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

struct Report;

[[nodiscard]] Section<LaunchesSection> launches_of(const Run& run, const Section<StepsSection>& steps,
                                                   const ReportOptions& options);

/// Of each rank one row, and of its streams where it is the only one; `most` rows.
[[nodiscard]] std::vector<NotedTable> launch_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json launch_json(const LaunchRow& row);

}  // namespace rankscope::analyzer
