// Critical path and what-if as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json critical_path_json(const CriticalPathSection& path, const ReportOptions& options);
[[nodiscard]] nlohmann::ordered_json what_if_json(const WhatIfSection& section);

}  // namespace rankscope::analyzer
