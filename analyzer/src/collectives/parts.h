// The section on operations between ranks: its tables and JSON, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/collectives/section.h"
#include "render/noted_table.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

struct Report;

/// With each of its operations where the options ask for instances.
[[nodiscard]] nlohmann::ordered_json collectives_json(const CollectivesSection& section, const Run& run,
                                                      const ReportOptions& options);
/// Groups and operations with their waiting, transfer and bus bandwidth, at least 16 of them.
[[nodiscard]] std::vector<NotedTable> collective_tables(const Report& report, std::size_t most);

void judge_desyncs(const RuleContext& context, std::vector<Finding>& findings);

}  // namespace rankscope::analyzer
