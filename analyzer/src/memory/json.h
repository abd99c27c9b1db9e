// Memory as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json memory_json(const MemorySection& section, const Section<CopiesSection>& copies,
                                                 const ReportOptions& options);

}  // namespace rankscope::analyzer
