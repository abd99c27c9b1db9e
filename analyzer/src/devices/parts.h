// The section on devices: its tables and JSON, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/split/device_row.h"
#include "render/noted_table.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

/// A line per device of each rank; no table where nothing was sampled. Of many ranks those that other tables show.
[[nodiscard]] std::vector<NotedTable> device_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json devices_json(std::span<const DeviceRow> devices);

void judge_throttling(const RuleContext& context, std::vector<Finding>& findings);

}  // namespace rankscope::analyzer
