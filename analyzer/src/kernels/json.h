// The sections about single kernels as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json kernels_json(const KernelsSection& section, const ReportOptions& options);

}  // namespace rankscope::analyzer
