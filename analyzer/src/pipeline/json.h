// The section of pipeline parallelism as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/pipeline/section.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json pipeline_json(const PipelineSection& section);

}  // namespace rankscope::analyzer
