// The section `copies` as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json copies_json(const CopiesSection& section, const ReportOptions& options);

}  // namespace rankscope::analyzer
