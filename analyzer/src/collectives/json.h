// The `collectives` of the JSON report.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// With each of its operations where the options ask for instances.
[[nodiscard]] nlohmann::ordered_json collectives_json(const CollectivesSection& section, const Run& run,
                                                      const ReportOptions& options);

}  // namespace rankscope::analyzer
